import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { get } from 'node:http'
import { get as getSecurely } from 'node:https'
import { createServer } from 'node:net'
import { basename } from 'node:path'
import { type Finding, findingsOf, messagesIn } from '../canonical/finding.ts'
import { codeOf } from '../canonical/unreachable.ts'
import type { Config } from '../config/config.ts'

const { well, wrong } = findingsOf('network')
const docs = 'docs/runbook.md#it-does-not-start'

/** A port on which a start would listen. */
interface Wanted {
  variable: string
  hostVariable: string
  host: string
  port: number
  /** The path to request, and the response that identifies a gateway. */
  path: string
  answers: RegExp
}

/** Tries to listen on each port for a moment. */
export async function checkPorts(config: Config): Promise<Finding[]> {
  const { host, port, metricsHost, metricsPort, role } = config
  const api: Wanted = {
    variable: 'PORT',
    hostVariable: 'HOST',
    host,
    port,
    path: '/healthz',
    answers: /^\{"status":"ok"\}$/,
  }
  const metrics: Wanted = {
    variable: 'METRICS_PORT',
    hostVariable: 'METRICS_HOST',
    host: metricsHost,
    port: metricsPort ?? 0,
    path: '/metrics',
    answers: /^# (HELP|TYPE) \w/m,
  }
  const wanted = [...(role === 'worker' ? [] : [api]), ...(metricsPort === undefined ? [] : [metrics])]
  return await Promise.all(wanted.map((one) => checkPort(one, config.tlsCert !== undefined)))
}

async function checkPort(wanted: Wanted, isSecure: boolean): Promise<Finding> {
  const { variable, hostVariable, host, port } = wanted
  const place = `${variable} ${port} on ${host}`
  const failure = await tryToListen(host, port)
  switch (codeOf(failure)) {
    case '':
      return well('port.free', port === 0 ? `${variable} is 0, so any free port is used` : `${place} is free`)
    case 'EADDRINUSE':
      return await taken(wanted, isSecure)
    case 'EACCES':
      return wrong('port.privileged', `${place} requires a permission that this user does not have`, {
        why: 'On Linux, only root can listen on ports below 1024.',
        fix: `Use another ${variable}, or set AmbientCapabilities=CAP_NET_BIND_SERVICE in the systemd unit, or run this as root:`,
        run: `sysctl net.ipv4.ip_unprivileged_port_start=${port}`,
        docs,
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return wrong('port.host', `${hostVariable} ${host} is not an address of this machine`, {
        why: `${codeOf(failure)}.`,
        run: 'ip -brief address',
        docs: 'docs/reference/configuration.md#general',
      })
  }
  return wrong('port.unusable', `cannot listen on ${place}`, {
    why: messagesIn(failure),
    fix: `Use another ${variable}.`,
    docs,
  })
}

function tryToListen(host: string, port: number): Promise<unknown> {
  return new Promise((resolve) => {
    const server = createServer().once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function taken(wanted: Wanted, isSecure: boolean): Promise<Finding> {
  const { variable, host, port } = wanted
  const owner = ownerOf(port)
  const answer = await askAt(wanted, isSecure && variable === 'PORT')
  if (answer === 'gateway')
    return well(
      'port.serving',
      `a gateway is serving on ${variable} ${port}${owner === undefined ? '' : ` (pid ${owner.pid})`}`,
    )
  const who = owner === undefined ? 'another program' : `${owner.program} (pid ${owner.pid})`
  return wrong('port.taken', `${variable} ${port} on ${host} is taken by ${who}`, {
    // A gateway that is merely busy must not be stopped.
    ...(answer === 'silence'
      ? {
          why: `It accepts connections but did not respond within ${answerMs / 1000} s. It may be a gateway that is busy or hangs, or another program.`,
          fix: `Find out what it is. If it is not a gateway, stop it, or set ${variable} to a free port.`,
        }
      : {
          why: 'The program that listens there does not respond like a gateway.',
          fix: `Stop it, or set ${variable} to a free port.`,
        }),
    run: `ss -Hltnp 'sport = :${port}'`,
    docs,
  })
}

const answerMs = 2_000

function askAt(
  { host, port, path, answers }: Wanted,
  isSecure: boolean,
): Promise<'gateway' | 'another' | 'silence'> {
  const bare = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const options = { host: bare, port, path, rejectUnauthorized: false, agent: false }
  return new Promise((resolve) => {
    let isAnswered = false
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      asked.destroy()
    }, answerMs)
    const asked = (isSecure ? getSecurely : get)(options, (answer) => {
      isAnswered = true
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
        if (text.length > 4096) answer.destroy()
      })
      answer.once('close', () => resolve(answers.test(text) ? 'gateway' : isLate ? 'silence' : 'another'))
    })
    asked
      .on('error', () => {})
      .on('close', () => {
        clearTimeout(timer)
        if (!isAnswered) resolve(isLate ? 'silence' : 'another')
      })
  })
}

/**
 * Finds the process that listens on a port. Undefined if it belongs to another user, or if this is not Linux.
 */
function ownerOf(port: number): { pid: number; program: string } | undefined {
  const sockets = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => listeningOn(port, path)))
  if (sockets.size === 0) return undefined
  for (const pid of numbersIn('/proc')) {
    for (const fd of numbersIn(`/proc/${pid}/fd`)) {
      const socket = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1]
      if (socket !== undefined && sockets.has(socket)) return { pid: Number(pid), program: programOf(pid) }
    }
  }
  return undefined
}

/** The inode numbers of listening sockets: https://man7.org/linux/man-pages/man5/proc_pid_net.5.html */
function listeningOn(port: number, path: string): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const listening = '0A'
  return textOf(path)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local, , state, , , , , , inode]) =>
      local?.endsWith(suffix) === true && state === listening && inode !== undefined ? [inode] : [],
    )
}

/** Returns only the name of the program, because its arguments may contain secrets. */
function programOf(pid: string): string {
  return basename(linkOf(`/proc/${pid}/exe`)) || textOf(`/proc/${pid}/comm`).trim() || 'a program'
}

function numbersIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
