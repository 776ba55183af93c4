/**
 * Ctrl-C and the other polite ways to stop a command, as one AbortSignal: whoever holds something (a child,
 * a database, a temp folder) releases it in its `finally`, because the wait for it ends by this signal.
 */
const controller = new AbortController();

export const interrupted = controller.signal;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => controller.abort(signal));
}
