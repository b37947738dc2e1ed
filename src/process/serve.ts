import { setFlagsFromString } from 'node:v8'
import { addSetupLink } from '../access/users/link-queries.ts'
import { type Config, configFromEnvironment } from '../config/config.ts'
import { type Log, openLog } from '../telemetry/log.ts'
import { type Context, openContext } from './context.ts'
import { onEndSignal, onReloadSignal, onUncaught } from './end-signals.ts'
import { openPages } from './pages/pages.ts'
import { Serving, type StartWorkers } from './serving.ts'
import type { Supervisor } from './supervised.ts'

const endMs = 25_000

/**
 * Runs a process: reads its config, opens its context, then serves the app, runs the workers, or both,
 * depending on its role. Resolves when it is ready; rejects with an Error for the operator. `supervisor` is
 * set if the process is one of several that share the port.
 */
export async function serve(startWorkers: StartWorkers, supervisor?: Supervisor): Promise<void> {
  const { config, environment } = configFromEnvironment()
  const ownLog = await openLog(config.logLevel, config.logFormat)
  const log = supervisor === undefined ? ownLog : ownLog.child({ process: process.pid })
  const ending = endOnSignal(log, supervisor)
  const pages = config.role === 'worker' ? undefined : openPages(config, log)
  const reload = reloadOnSignal(log, supervisor)
  const context = await openContext(config, environment, log, supervisor?.embeddedUrl)
  context.gatewayFile?.follow((keys) => print(newKeysOf(keys)))
  reload.begin(context)
  const serving = new Serving(context, { startWorkers, pages, supervisor })
  // This must happen before the process reports that it is ready, because the supervisor may send a signal
  // immediately.
  ending.begin(context, (how) => void end(context, serving, how))
  const port = await serving.start()
  supervisor?.serves(port)
  print(await greetingOf(context, port, supervisor))
  // Only the first of several processes builds; the others notice the result.
  if (supervisor?.buildsPages !== false) void pages?.build((line) => print([line]))
}

/**
 * Returns what the process prints once it is ready. Only the first of several processes prints how to call
 * them.
 */
export async function greetingOf(context: Context, port: number, supervisor?: Supervisor): Promise<string[]> {
  const keys = newKeysOf(context.generatedKeys)
  if (supervisor?.greets === false) return keys
  if (context.config.role === 'worker') return ['The Tollgate worker is running.', ...keys]
  return firstCallsOf(context, port, await makeSetupLink(context))
}

/**
 * Why this process is ending. `isBug` means that its state may be corrupt, so it accepts nothing new and ends
 * sooner.
 */
interface Cause {
  reason: string
  isBug: boolean
}

/**
 * Listens for everything that ends this process: signals, the end of its supervisor, and uncaught errors.
 * Until `begin` no one has been served, so the process exits immediately. It must listen itself, because the
 * kernel delivers to the first process of a container only the signals for which it has a handler.
 */
function endOnSignal(
  log: Log,
  supervisor: Supervisor | undefined,
): { begin(context: Context, end: (cause: Cause) => void): void } {
  let context: Context | undefined
  let end = ({ reason }: Cause): void => {
    log.info({ reason }, 'ended before it was ready')
    process.exit()
  }
  let ending = false
  const endOnce = (reason: string, isBug = false) => {
    if (!ending) end({ reason, isBug })
    ending = true
  }
  supervisor?.onGone(() => endOnce('the supervisor has ended'))
  // On a second signal, the supervisor ends its processes itself.
  onEndSignal(endOnce, () => {
    if (supervisor === undefined) process.exit(1)
  })
  onUncaught(log, () => {
    // This also applies if the process is already shutting down but still accepts requests for
    // SHUTDOWN_DELAY_MS.
    if (context !== undefined) context.draining = true
    endOnce('an uncaught error', true)
  })
  return {
    begin(opened, then) {
      context = opened
      end = then
    },
  }
}

/** Applies gateway.yaml on each SIGHUP, including one received before `begin`. */
function reloadOnSignal(log: Log, supervisor: Supervisor | undefined): { begin(context: Context): void } {
  let context: Context | undefined
  let isAsked = false
  const apply = () => {
    isAsked = true
    if (context === undefined || context.draining) return
    if (context.gatewayFile === undefined)
      log.warn({}, 'SIGHUP was ignored, because GATEWAY_CONFIG is not set')
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
  // End even if a step hangs. Other processes adopt the journal and claim the jobs.
  setTimeout(() => process.exit(1), delayMs + drainMs + endMs).unref()
  if (!isBug) await serving.leave(reason)
  context.log.info({ reason }, 'draining')
  compileNoMore()
  await serving.stop(drainMs).then(
    () => context.log.info({}, 'ended'),
    // The log contains what could not be closed.
    () => {
      process.exitCode = 1
    },
  )
  // Everything is written and closed, but a library may still keep a handle open. The exit code is 1 after a
  // bug, otherwise 0.
  process.exit()
}

/**
 * A V8 compiler thread may wait for a garbage collection by the main thread while that waits in process.exit
 * for the compiler thread, forever: https://github.com/nodejs/node/issues/54918. Therefore no compilation is
 * started while draining.
 */
function compileNoMore(): void {
  for (const compiler of ['sparkplug', 'maglev', 'turbofan']) setFlagsFromString(`--no-${compiler}`)
}

function newKeysOf(keys: Context['generatedKeys']): string[] {
  return keys.map(
    ({ tenant, key, secret }) => `new key (shown only once): ${secret}  (tenant ${tenant}, key ${key})`,
  )
}

/** An address at which someone on this machine can open the gateway that listens on `port`. */
export function addressOf({ host, publicUrl, tlsCert }: Config, port: number): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '')
  const scheme = tlsCert === undefined ? 'http' : 'https'
  // A browser cannot open the addresses that mean all addresses of this machine.
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${scheme}://${name}:${port}`
}

/** The lines that show the operator how to make the first call. */
function firstCallsOf(context: Context, port: number, setupLink: string | undefined): string[] {
  const base = addressOf(context.config, port)
  const model = [...context.catalog.snapshot.models.keys()][0] ?? 'MODEL'
  const secret = context.generatedKeys[0]?.secret ?? 'YOUR_KEY'
  const demo = context.catalog.snapshot.models.has('demo-chat')
  return [
    '',
    `Tollgate is running.${demo ? ' The demo serves the models demo-chat and demo-image with canned text and pictures instead of a real model.' : ''}`,
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
 * The console's address, with a set-up link if there are no users yet. Without a console, a curl command with
 * that link.
 */
function wayIn({ config, bounds }: Context, base: string, setupLink: string | undefined): string[] {
  if (config.pages.includes('console')) {
    if (setupLink === undefined) return ['', `console: ${base}/console`]
    // The part after the # does not appear in proxy logs.
    const address = `${base}/console/link#${setupLink}`
    return [
      '',
      `Open ${address} to create the first owner (works once, within ${bounds.resetLinkMinutes} minutes).`,
    ]
  }
  if (setupLink === undefined) return []
  return [
    '',
    `There are no users yet. This call creates the first owner (works once, within ${bounds.resetLinkMinutes} minutes):`,
    `curl ${base}/admin/v1/links/use -H 'content-type: application/json' \\`,
    `  -d '{"token":"${setupLink}","email":"you@example.com","password":"A LONG PASSWORD"}'`,
  ]
}

/** Creates a link for the first owner if there are no users. If that fails, the process runs without one. */
async function makeSetupLink({ database, bounds, log }: Context): Promise<string | undefined> {
  try {
    return await database.state.ask(({ db }) => addSetupLink(db, bounds.resetLinkMinutes * 60_000))
  } catch (error) {
    log.warn(
      { cause: String(error) },
      'the set-up link could not be created; restart the process to try again',
    )
    return undefined
  }
}

/**
 * Prints to stdout. A gateway continues when its output is not read, but an `error` event without a listener
 * would end it.
 */
function print(lines: readonly string[]): void {
  if (lines.length === 0) return
  process.stdout
    .off('error', ignore)
    .on('error', ignore)
    .write(`${lines.join('\n')}\n`)
}

function ignore(): void {}
