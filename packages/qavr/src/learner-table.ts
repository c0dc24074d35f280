import { type Learner, oar, QavrError, qValue, similarity } from "@qavr/core";

export type Learners = Readonly<Record<string, Learner>>;

type Creators = Readonly<Record<string, (options?: object) => Learner>>;

const IN_CORE: Creators = { oar, qValue, similarity };

/** Every published learner with its default options, by the name of its function. */
export async function learnerTable(): Promise<Learners> {
  const creators = { ...IN_CORE, ...(await others()) };
  return Object.fromEntries(Object.entries(creators).map(([name, create]) => [name, create()]));
}

/** The published learner that has an id, such as `oar@2/half-life-86400000`; undefined for a learner of an application's own. */
export async function learnerWithId(id: string | undefined): Promise<Learner | undefined> {
  if (id === undefined) return undefined;
  return among(IN_CORE, id) ?? among(await others(), id);
}

async function others(): Promise<Creators> {
  const {
    formatSeedState: _,
    parseSeedState: __,
    unreachableScores: ___,
    ...creators
  } = await import("@qavr/learners");
  return creators;
}

function among(creators: Creators, id: string): Learner | undefined {
  for (const create of Object.values(creators)) {
    try {
      const learner = create(optionsIn(id));
      if (learner.id === id) return learner;
    } catch (error) {
      // It does not have these options.
      if (!QavrError.isInstance(error, "INVALID_ARGUMENT")) throw error;
    }
  }
  return undefined;
}

/** The options that the parts of an id after its version tell. */
function optionsIn(id: string): object {
  const [, ...parts] = id.split("/");
  return Object.fromEntries(
    parts.map((part) => {
      const halfLife = /^half-life-(.+)$/.exec(part)?.[1];
      if (halfLife !== undefined) return ["halfLife", Number(halfLife)];
      return [part === "reward" ? "feedback" : "setting", part];
    }),
  );
}
