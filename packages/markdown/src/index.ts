export type { LessonQuery, LessonsOptions, NewLesson } from "./lesson-options.js";
export type { RankBy } from "./lesson-order.js";
export {
  type LessonCollection,
  type LessonHit,
  type Lessons,
  type MarkdownLesson,
  openLessons,
  type ReadLessons,
} from "./lessons.js";
export type { LessonRow } from "./reinforcement-table.js";
