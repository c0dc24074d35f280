export type { LessonQuery, LessonsOptions, NewLesson } from "./lesson-options.js";
export type { RankBy } from "./lesson-order.js";
export {
  type Lesson,
  type LessonCollection,
  type LessonHit,
  type Lessons,
  openLessons,
  type ReadLessons,
} from "./lessons.js";
