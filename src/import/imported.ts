import type { GatewayFile } from '../catalog/gateway-file.ts'
import type { ImportProblem } from './problems.ts'

/**
 * Another gateway's state in the words of gateway.yaml, before it is checked. Texts are plain: `${` means
 * nothing in them.
 */
export interface Draft {
  models: ModelDraft[]
  channels: ChannelDraft[]
  groups: GroupDraft[]
  tenants: TenantDraft[]
}

/** A secret of the draft: gateway.yaml gets `${variable}` for it. */
export interface SecretText {
  variable: string
  /** Undefined: only the environment knows it. */
  value: string | undefined
}

/** A setting of gateway.yaml that needs no look here. */
type Plain = string | number | boolean | Plain[] | { [name: string]: Plain }

export interface ModelDraft {
  id: string
  aliases?: string[]
  fallbacks?: string[]
  context_length?: number
  max_output_tokens?: number
  price?: Record<string, string>
}

export interface ChannelDraft {
  name: string
  vendor?: string
  protocols?: Record<string, string>
  api_keys: SecretText[]
  /** Our name to the upstream's. */
  models: Record<string, string>
  priority?: number
  weight?: number
  concurrency?: number
  allow_private_address?: Plain
  proxy?: SecretText
  headers?: Record<string, SecretText>
  timeouts?: Record<string, number>
  /** gateway.yaml has no word for it; in the database the row is disabled. */
  disabled: boolean
}

export interface GroupDraft {
  name: string
  models: string[]
  channels: string[]
  price_multiplier?: string
}

export interface TenantDraft {
  name: string
  balance_usd?: string
  keys: KeyDraft[]
}

export interface KeyDraft {
  name: string
  group: string
  /** Undefined: it is not known, and a new one is made. */
  secret?: SecretText
  expires_at?: string
  disabled?: boolean
  allowed_models?: string[]
  allowed_cidrs?: string[]
  limits?: Record<string, number>
  budget?: Record<string, string>
}

/** The data to write: a checked gateway.yaml, and settings that it has no words for. */
export interface Imported {
  file: GatewayFile
  /** Names of channels that stay disabled. */
  disabledChannels: ReadonlySet<string>
  problems: ImportProblem[]
  /** For --to-yaml; undefined: the file is one already. */
  yaml: RenderedYaml | undefined
}

export interface RenderedYaml {
  text: string
  /** The values of its variables, but for those that only the environment knows. */
  variables: ReadonlyMap<string, string>
}
