import type { Endpoint } from '../stages/endpoints.ts'
import type { Identified } from '../stages/identify.ts'
import type { Received } from '../stages/received.ts'

/** An endpoint of our own API, which no model answers: one entry, with what answers it. */
export type OwnEndpoint = Endpoint & {
  /** Of Express, where `path` does not tell: an id may hold slashes. */
  route?: string
  /**
   * Whether a request that succeeds has a row. Reads of the usage log have none, or nobody could read it to the end. A
   * request that is refused always has one.
   */
  logged: boolean
} & (
    | { needsKey: true; handle(own: OwnRequest<Identified>): Promise<OwnAnswer | undefined> }
    /** Whoever has the link may ask. */
    | { needsKey: false; handle(own: OwnRequest<Received>): Promise<OwnAnswer | undefined> }
  )

export interface OwnRequest<Stage extends Received = Identified> {
  stage: Stage
  /** Of the path, by name. */
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, unknown>>
}

/** What is sent with status 200. Undefined in its place: the handler has answered by itself. */
export interface OwnAnswer {
  /** JSON, or the bytes of it. */
  body: unknown
  headers?: Record<string, string>
}
