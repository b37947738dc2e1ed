import { setFlagsFromString } from 'node:v8'
import { addSetupLink } from './access/users/link-queries.ts'
import { configFromEnvironment } from './config.ts'
import { type Context, openContext } from './context.ts'
import { onEndSignal, onReloadSignal, onUncaught } from './end-signals.ts'
import { openPages } from './pages/pages.ts'
import { Serving, type StartWorkers } from './serving.ts'
import type { Supervisor } from './supervised.ts'
import { type Log, makeLog } from './telemetry/log.ts'

const endMs = 25_000

/**
 * Run a process: read its config, open its context, then serve the app, run the workers, or both, by its
 * role. Resolves when it serves; rejects with an Error for the operator. `supervisor`: the process is one of
 * several that share the port.
 */
export async function serve(startWorkers: StartWorkers, supervisor?: Supervisor): Promise<void> {
  const { config, environment } = configFromEnvironment()
  const ownLog = makeLog(config.logLevel)
  const log = supervisor === undefined ? ownLog : ownLog.child({ process: process.pid })
  const ending = endOnSignal(log, supervisor)
  const pages = config.role === 'worker' ? undefined : openPages(config, log)
  const reload = reloadOnSignal(log, supervisor)
  const context = await openContext(config, environment, log, supervisor?.embeddedUrl)
  context.gatewayFile?.follow((keys) => print(newKeysOf(keys)))
  reload.begin(context)
  const serving = new Serving(context, { startWorkers, pages, supervisor })
  // Before this process reports that it serves: the supervisor may send a signal at once.
  ending.begin(context, (how) => void end(context, serving, how))
  const port = await serving.start()
  supervisor?.serves(port)
  print(await greetingOf(context, port, supervisor))
  // Of several processes only the first builds: the others notice what it has built.
  if (supervisor?.buildsPages !== false) void pages?.build((line) => print([line]))
}

/** What the process prints once it serves. Of several processes the first one says how to call them. */
export async function greetingOf(context: Context, port: number, supervisor?: Supervisor): Promise<string[]> {
  const keys = newKeysOf(context.generatedKeys)
  if (supervisor?.greets === false) return keys
  if (context.config.role === 'worker') return ['Tollgate works.', ...keys]
  return firstCallsOf(context, port, await makeSetupLink(context))
}

/** Why this process ends. `isBug`: what it holds may be wrong, so it takes nothing new and ends sooner. */
interface Cause {
  reason: string
  isBug: boolean
}

/**
 * Listen for what ends this process: signals, the end of its supervisor, an error that nothing caught. Until
 * `begin` no one was served, so the process ends at once. It does that itself: the kernel gives the first
 * process of a container no signal that it does not listen for.
 */
function endOnSignal(
  log: Log,
  supervisor: Supervisor | undefined,
): { begin(context: Context, end: (cause: Cause) => void): void } {
  let context: Context | undefined
  let end = ({ reason }: Cause): void => {
    log.info({ reason }, 'ended before it served')
    process.exit()
  }
  let ending = false
  const endOnce = (reason: string, isBug = false) => {
    if (!ending) end({ reason, isBug })
    ending = true
  }
  supervisor?.onGone(() => endOnce('the supervisor has ended'))
  // The supervisor ends its processes itself when it gets a second signal.
  onEndSignal(endOnce, () => {
    if (supervisor === undefined) process.exit(1)
  })
  onUncaught(log, () => {
    // Also where it has begun to end, and still takes requests for SHUTDOWN_DELAY_MS.
    if (context !== undefined) context.draining = true
    endOnce('an error that nothing caught', true)
  })
  return {
    begin(opened, then) {
      context = opened
      end = then
    },
  }
}

/** Have gateway.yaml applied at each SIGHUP, also at one that came before `begin`. */
function reloadOnSignal(log: Log, supervisor: Supervisor | undefined): { begin(context: Context): void } {
  let context: Context | undefined
  let isAsked = false
  const apply = () => {
    isAsked = true
    if (context === undefined || context.draining) return
    if (context.gatewayFile === undefined) log.warn({}, 'SIGHUP: there is no GATEWAY_CONFIG to apply')
    else void context.gatewayFile.apply()
  }
  onReloadSignal(apply)
  supervisor?.onReload(apply)
  return {
    begin(opened) {
      context = opened
      if (isAsked) apply()
    },
  }
}

async function end(context: Context, serving: Serving, { reason, isBug }: Cause): Promise<void> {
  const { shutdownDelayMs, drainOnShutdownMs, crashDrainMs } = context.bounds
  const delayMs = isBug ? 0 : shutdownDelayMs
  const drainMs = isBug ? crashDrainMs : drainOnShutdownMs
  // End even if a step hangs: other processes adopt the journal and take the jobs.
  setTimeout(() => process.exit(1), delayMs + drainMs + endMs).unref()
  if (!isBug) await serving.leave(reason)
  context.log.info({ reason }, 'draining')
  compileNoMore()
  await serving.stop(drainMs).then(
    () => context.log.info({}, 'ended'),
    // The log has what could not be closed.
    () => {
      process.exitCode = 1
    },
  )
  // All is written and closed, but a library may still hold something open. The exit code is 1 after a bug,
  // else 0.
  process.exit()
}

/**
 * A compiler thread of V8 may wait for a garbage collection by the main thread, while that waits in
 * process.exit for the compiler thread, forever: https://github.com/nodejs/node/issues/54918. So we begin no
 * compilation while we drain.
 */
function compileNoMore(): void {
  for (const compiler of ['sparkplug', 'maglev', 'turbofan']) setFlagsFromString(`--no-${compiler}`)
}

function newKeysOf(keys: Context['generatedKeys']): string[] {
  return keys.map(
    ({ tenant, key, secret }) => `new key (shown only now): ${secret}  (tenant ${tenant}, key ${key})`,
  )
}

/** The lines that show the operator how to make the first call. */
function firstCallsOf(context: Context, port: number, setupLink: string | undefined): string[] {
  const { host, publicUrl, tlsCert } = context.config
  const scheme = tlsCert === undefined ? 'http' : 'https'
  const base =
    publicUrl?.replace(/\/+$/, '') ?? `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const model = [...context.catalog.snapshot.models.keys()][0] ?? 'MODEL'
  const secret = context.generatedKeys[0]?.secret ?? 'YOUR_KEY'
  const demo = context.catalog.snapshot.models.has('demo-chat')
  return [
    '',
    `Tollgate serves.${demo ? ' Its demo answers as models demo-chat and demo-image: canned text and pictures, no model behind them.' : ''}`,
    `base URL: ${base}/v1`,
    ...newKeysOf(context.generatedKeys),
    '',
    `curl -N ${base}/v1/chat/completions -H 'authorization: Bearer ${secret}' -H 'content-type: application/json' \\`,
    `  -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    `curl ${base}/v1/usage/requests -H 'authorization: Bearer ${secret}'`,
    ...wayIn(context, base, setupLink),
  ]
}

/**
 * The console's address, with a set-up link where there are no users yet. Without a console, that link for
 * curl.
 */
function wayIn({ config, bounds }: Context, base: string, setupLink: string | undefined): string[] {
  if (config.pages.includes('console')) {
    if (setupLink === undefined) return ['', `console: ${base}/console`]
    // The part after the # is in no proxy log.
    const address = `${base}/console/link#${setupLink}`
    return [
      '',
      `Open ${address} to make the first owner (works once, within ${bounds.resetLinkMinutes} minutes).`,
    ]
  }
  if (setupLink === undefined) return []
  return [
    '',
    `There are no users yet. This call makes the first owner, once, within ${bounds.resetLinkMinutes} minutes:`,
    `curl ${base}/admin/v1/links/use -H 'content-type: application/json' \\`,
    `  -d '{"token":"${setupLink}","email":"you@example.com","password":"A LONG PASSWORD"}'`,
  ]
}

/** A link that makes the first owner, where there are no users. The process serves without one too. */
async function makeSetupLink({ database, bounds, log }: Context): Promise<string | undefined> {
  try {
    return await database.state.ask(({ db }) => addSetupLink(db, bounds.resetLinkMinutes * 60_000))
  } catch (error) {
    log.warn({ cause: String(error) }, 'no set-up link could be made: start the process again for one')
    return undefined
  }
}

/** A gateway goes on when its output is not read: an event `error` without a listener would end it. */
function print(lines: readonly string[]): void {
  if (lines.length === 0) return
  process.stdout
    .off('error', ignore)
    .on('error', ignore)
    .write(`${lines.join('\n')}\n`)
}

function ignore(): void {}
