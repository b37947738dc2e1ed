import { stringify } from 'yaml'
import type { ChannelDraft, Draft, RenderedYaml, SecretText, TenantDraft } from './imported.ts'

/** Writes a secret. */
export type WriteSecret = (secret: SecretText) => string

/** Renders the draft as a gateway.yaml with `${NAME}` in place of its secrets. */
export function renderYaml(draft: Draft, { libraryPrices }: { libraryPrices: boolean }): RenderedYaml {
  const variables = new Map<string, string>()
  const write: WriteSecret = ({ variable, value }) => {
    // An empty variable is treated as one that is not set.
    if (value === '') return ''
    if (value !== undefined) variables.set(variable, value)
    return `\${${variable}}`
  }
  const document = {
    ...(libraryPrices && { prices: 'library' }),
    models: draft.models.map(escaped),
    channels: draft.channels.map((channel) => draftChannel(channel, write, escaped)),
    groups: draft.groups.map(escaped),
    tenants: draft.tenants.map((tenant) => draftTenant(tenant, write, escaped)),
  }
  const text = stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
  return { text, variables }
}

/** Expresses a channel in the settings of gateway.yaml. */
export function draftChannel(
  { disabled: _, api_keys, proxy, headers, ...rest }: ChannelDraft,
  write: WriteSecret,
  plain: (value: unknown) => unknown = (value) => value,
): Record<string, unknown> {
  return {
    ...mapWords(plain(rest)),
    api_keys: api_keys.map((key) => [key].flat().map(write).join(':')),
    ...(proxy !== undefined && { proxy: write(proxy) }),
    ...(headers !== undefined && {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, write(value)])),
    }),
  }
}

/** Expresses a tenant in the settings of gateway.yaml. */
export function draftTenant(
  { keys, ...rest }: TenantDraft,
  write: WriteSecret,
  plain: (value: unknown) => unknown = (value) => value,
): Record<string, unknown> {
  return {
    ...mapWords(plain(rest)),
    keys: keys.map(({ secret, ...key }) => ({
      ...mapWords(plain(key)),
      ...(secret !== undefined && { secret: write(secret) }),
    })),
  }
}

function mapWords(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Escapes texts so that `${NAME}` in them is not a variable. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\$\{[^}]*\}/g, '$$$&')
  if (Array.isArray(value)) return value.map(escaped)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, escaped(member)]))
}
