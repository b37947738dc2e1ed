import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Body, type LargeBodies, readBody } from './body.ts'
import type { BodyShare } from './body-memory.ts'
import { calledOrigin, clientAddressOf, isEncrypted } from './client-address.ts'
import type { Exchange } from './exchange.ts'

/** A request over HTTP. */
export class HttpExchange implements Exchange {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly share = undefined

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request
    this.reply = response
  }

  get method(): string {
    return this.request.method ?? ''
  }

  get path(): string {
    return this.request.url ?? ''
  }

  get headers() {
    return this.request.headers
  }

  get clientAddress(): string {
    return clientAddressOf(this.request)
  }

  get origin(): string {
    return calledOrigin(this.request)
  }

  get isEncrypted(): boolean {
    return isEncrypted(this.request.socket)
  }

  get connection(): Duplex {
    return this.request.socket
  }

  get hasArrived(): boolean {
    return this.request.complete
  }

  readBody(bytesMax: number, share: BodyShare, large?: LargeBodies): Promise<Body | undefined> {
    return readBody(this.request, bytesMax, share, large)
  }
}
