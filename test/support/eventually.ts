const POLL_MS = 20;
const PATIENCE_MS = 20_000;

/** Resolves as soon as `holds` does; fails after a bounded time, saying what was waited for. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) {
      throw new Error(`gave up waiting: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
