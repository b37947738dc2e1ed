/**
 * Between the supervisor and the processes that it keeps: a channel of Node's, which ends when either ends, however it
 * ends. https://nodejs.org/api/child_process.html#child-process-event-disconnect
 */

/** What a process is told once, as it starts. */
export interface Orders {
  /** To be shared with the others. 0: the first process takes any. */
  port: number
  /** The embedded Postgres that the supervisor keeps. Never an argument nor in an environment: it has the password. */
  embeddedUrl: string | undefined
  /** The first process tells the operator how to call us; those after it only what nobody else can. */
  greets: boolean
}

/** What a process tells once it serves. */
export interface Serves {
  /** 0 for a process that only works. */
  port: number
}

/** The supervisor, as a process that it keeps sees it. */
export interface Supervisor extends Orders {
  serves(port: number): void
  /** It has died, or has let go of us: nobody else would end this process. */
  onGone(end: () => void): void
}

/** The argument that says that a process has a supervisor: other programs open channels too. */
export const supervisedArgument = '--supervised'

/** Undefined: this process has no supervisor. Rejects when it had one that has died. */
export async function supervisorOfThisProcess(): Promise<Supervisor | undefined> {
  if (!process.argv.includes(supervisedArgument)) return undefined
  let end: () => void = () => process.exit(1)
  process.once('disconnect', () => end())
  if (!process.connected) throw new Error(`${supervisedArgument} is for the processes that PROCESSES starts`)
  const orders = await new Promise<Orders>((resolve) => {
    process.once('message', (message) => resolve(message as Orders))
  })
  return {
    ...orders,
    serves: (port) => process.send?.({ port } satisfies Serves, () => {}),
    onGone(then) {
      end = then
    },
  }
}
