/** Tells a person who runs a program, where nobody reads a log. */
export function processWarning(code: string, message: string): void {
  processOf(globalThis)?.emitWarning?.(message, { type: "QavrWarning", code });
}

/** Node's process, where there is one; this package knows no platform. */
function processOf(scope: object): ProcessShape | undefined {
  return (scope as { readonly process?: ProcessShape }).process;
}

interface ProcessShape {
  emitWarning?(message: string, options: { readonly type: string; readonly code: string }): void;
}
