import type { Gateway } from '../../pipeline/gateway.ts'
import { redactText } from '../../redaction/redact.ts'
import { secretsOf } from '../../routing/credentials.ts'

type Upstreams = Gateway['upstreams']
type Call = Parameters<Upstreams['call']>
type Listener = Call[2]

/** Receives what is sent to channels and what they answer. The texts contain no secrets. */
export interface WireListener {
  request(
    attempt: number,
    request: { channel: string; address: string; method: string; body: string | null },
  ): void
  start(attempt: number, status: number): void
  data(attempt: number, text: string): void
  /** `error` says why the answer is incomplete. */
  end(attempt: number, error: string | undefined): void
}

/**
 * Wraps the upstreams with a listener to all calls, without changing what is sent and received. Adds the
 * secrets of each call to `known`, because an upstream may repeat them to the client.
 */
export function overheard(upstreams: Upstreams, wires: WireListener, known: string[]): Upstreams {
  let attempts = 0
  return {
    call(...[target, request, listener]: Call) {
      const attempt = ++attempts
      const { channel, credential, baseUrl } = target
      const secrets: string[] = []
      const learn = () => {
        for (const secret of credential === undefined ? [] : secretsOf({ channel, credential })) {
          if (!secrets.includes(secret)) secrets.push(secret)
          if (!known.includes(secret)) known.push(secret)
        }
      }
      learn()
      const { method, body } = request
      wires.request(attempt, {
        channel: channel.name,
        address: redactText(baseUrl + request.path, secrets),
        method,
        body: Buffer.isBuffer(body) ? redactText(body.toString('utf8'), secrets, charactersMax) : null,
      })
      const text = new WireText(secrets, (part) => wires.data(attempt, part))
      return upstreams.call(target, request, overhear(listener, { attempt, text, wires, learn }))
    },
  }
}

interface Overheard {
  attempt: number
  text: WireText
  wires: WireListener
  /** Adds the secrets that the signer of the call has obtained. */
  learn(): void
}

function overhear(listener: Listener, { attempt, text, wires, learn }: Overheard): Listener {
  return {
    isWanted: () => listener.isWanted?.() ?? true,
    start(call, status, headers) {
      learn()
      wires.start(attempt, status)
      listener.start(call, status, headers)
    },
    data(call, chunk) {
      text.add(chunk)
      listener.data(call, chunk)
    },
    end() {
      text.end()
      wires.end(attempt, undefined)
      listener.end()
    },
    fail(error, sent) {
      learn()
      text.end()
      wires.end(attempt, redactText(error.message, text.secrets))
      listener.fail(error, sent)
    },
  }
}

/**
 * Shows bytes as text without secrets. Text is passed on in whole lines, so that no secret is split across
 * two parts.
 */
export class WireText {
  readonly secrets: readonly string[]
  readonly #write: (part: string) => void
  readonly #decoder = new TextDecoder()
  #line = ''
  #written = 0

  constructor(secrets: readonly string[], write: (part: string) => void) {
    this.secrets = secrets
    this.#write = write
  }

  add(chunk: Uint8Array): void {
    if (this.#written > charactersMax) return
    const text = this.#decoder.decode(chunk, { stream: true })
    const at = text.lastIndexOf('\n') + 1
    if (at > 0) {
      this.#pass(this.#line + text.slice(0, at))
      this.#line = ''
    }
    this.#line += text.slice(at)
    if (this.#line.length > charactersMax) this.end()
  }

  end(): void {
    if (this.#line !== '') this.#pass(this.#line)
    this.#line = ''
  }

  #pass(text: string): void {
    this.#written += text.length
    const shown = redactText(text, this.secrets, charactersMax)
    const isLong = this.#written > charactersMax
    this.#write(isLong ? `${shown.slice(0, charactersMax)}\n[the rest is not shown]` : shown)
  }
}

/** The most characters shown of one call. */
const charactersMax = 4 * 1024 * 1024
