import type { GatewayFile } from '../catalog/gateway-file.ts'
import type { ImportProblem } from './problems.ts'

/**
 * The state of another gateway, expressed in the settings of gateway.yaml but not yet validated. All texts
 * are literal: `${` has no special meaning.
 */
export interface Draft {
  models: ModelDraft[]
  channels: ChannelDraft[]
  groups: GroupDraft[]
  tenants: TenantDraft[]
}

/** A secret of the draft, written to gateway.yaml as `${variable}`. */
export interface SecretText {
  variable: string
  /** Undefined if only the environment has the value. */
  value: string | undefined
}

/** A setting of gateway.yaml that the import passes through unexamined. */
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
  auth?: Record<string, string>
  /** A list is one credential of several parts. */
  api_keys: (SecretText | readonly SecretText[])[]
  /** Maps our model name to the name at the upstream. */
  models: Record<string, string>
  priority?: number
  weight?: number
  concurrency?: number
  allow_private_address?: Plain
  proxy?: SecretText
  headers?: Record<string, SecretText>
  timeouts?: Record<string, number>
  /** Disables the channel in the database. gateway.yaml has no setting for this. */
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
  /** Undefined if the secret is unknown, in which case a new one is generated. */
  secret?: SecretText
  expires_at?: string
  disabled?: boolean
  allowed_models?: string[]
  allowed_cidrs?: string[]
  limits?: Record<string, number>
  budget?: Record<string, string>
}

/** The data to write: a validated gateway.yaml and the settings that it cannot express. */
export interface Imported {
  file: GatewayFile
  /** The names of the channels that remain disabled. */
  disabledChannels: ReadonlySet<string>
  problems: ImportProblem[]
  /** For --to-yaml. Undefined if the source already is a gateway.yaml. */
  yaml: RenderedYaml | undefined
}

export interface RenderedYaml {
  text: string
  /** The values of its variables, except those that only the environment has. */
  variables: ReadonlyMap<string, string>
}
