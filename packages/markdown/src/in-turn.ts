/** Runs works one after the other, in the order of the calls. A failed one stops no later one. */
export function inTurn(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.catch(() => {}).then(work);
    last = turn;
    return turn;
  };
}
