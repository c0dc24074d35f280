/** A turn of the event loop: lets every promise that can go on do so. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
