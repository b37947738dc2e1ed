import { LRUCache } from 'lru-cache'
import { type AwsKey, readAwsKey } from '../../catalog/aws-credentials.ts'
import type { ChannelAuth } from '../../db/settings/auth-settings.ts'
import type { Clock } from '../../runtime/clock.ts'
import { KeptToken, type Token } from '../kept-token.ts'

/** A key that a source of Amazon's hands out. */
export interface AwsIdentity extends AwsKey, Token {
  /** Where it comes from, in words for the operator. */
  origin: string
}

/** Where keys come from. Each rejects with an Error for the operator. */
export interface AwsSource {
  /**
   * The identity of this machine, as all tools of Amazon find it: environment, profile, token file,
   * container, instance.
   */
  ambient(region: string): Promise<AwsIdentity>
  assume(role: AssumedRole, key: AwsKey): Promise<AwsIdentity>
}

export interface AssumedRole {
  roleArn: string
  externalId: string | undefined
  sessionName: string
  /** Whose token service is asked. */
  region: string
}

/** More than the roles of any catalog. */
const rolesMax = 1_000

/** The identities that sign requests for Amazon, one each for a credential and a role. */
export class AwsIdentities {
  readonly #source: AwsSource
  readonly #clock: Clock
  readonly #ambient = new LRUCache<string, KeptToken<AwsIdentity>>({ max: rolesMax })
  readonly #roles = new LRUCache<string, KeptToken<AwsIdentity>>({ max: rolesMax })

  constructor(source: AwsSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  /**
   * `credential`: an entry of `api_keys`. Returns a promise only if it has to wait. Throws or rejects with an
   * Error.
   */
  of(
    credential: string,
    auth: Omit<ChannelAuth, 'service'>,
    region: string,
    call: { readonly signal: AbortSignal },
  ): AwsKey | AwsIdentity | Promise<AwsIdentity> {
    const { roleArn, externalId, sessionName = 'tollgate' } = auth
    if (roleArn === undefined) return this.#own(credential, region, call)
    const role = { roleArn, externalId, sessionName, region }
    return this.#kept(this.#roles, JSON.stringify([credential, role]), async () => {
      // The role is assumed for all who wait, so no one of them ends it.
      const own = await this.#own(credential, region, { signal: new AbortController().signal })
      return await this.#source.assume(role, own)
    }).get(call)
  }

  #own(
    credential: string,
    region: string,
    call: { readonly signal: AbortSignal },
  ): AwsKey | AwsIdentity | Promise<AwsIdentity> {
    if (credential === '')
      return this.#kept(this.#ambient, region, () => this.#source.ambient(region)).get(call)
    const key = readAwsKey(credential)
    if (key === undefined) throw new Error('the credential is not a key of Amazon')
    return key
  }

  #kept(all: LRUCache<string, KeptToken<AwsIdentity>>, name: string, fetch: () => Promise<AwsIdentity>) {
    let kept = all.get(name)
    if (kept === undefined) {
      kept = new KeptToken(fetch, this.#clock)
      all.set(name, kept)
    }
    return kept
  }
}
