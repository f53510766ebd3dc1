// What the process is warned of: functions of users that fail where nobody could catch it.

/** @param name Of the function. What is thrown and is no error is not shown: it may be anything. */
export function warn(name: string, fault: unknown): void {
  process.emitWarning(fault instanceof Error ? fault : `${name} failed`)
}

/** For a function of a user, which may be asynchronous: neither what it throws nor its rejection ends the process, or changes anything. */
export async function callListener(name: string, call: () => unknown): Promise<void> {
  try {
    await call()
  } catch (fault) {
    warn(name, fault)
  }
}
