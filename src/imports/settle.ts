import type { z } from 'zod'
import { namesFile } from '../catalog/credential-files.ts'
import { channelEntry, groupEntry, tenantEntry } from '../catalog/gateway-file.ts'
import { readGatewayYaml } from '../catalog/gateway-yaml.ts'
import { modelEntry } from '../catalog/model-entry.ts'
import type { Draft, Imported, TenantDraft } from './imported.ts'
import { type Problems, UnsetVariables } from './problems.ts'
import { draftChannel, draftTenant, renderYaml, type WriteSecret } from './render.ts'

/** How the export of another gateway is read. */
export interface SettleTerms {
  env: Readonly<Record<string, string | undefined>>
  /**
   * Whether the result is a gateway.yaml, which cannot express a disabled channel and whose variables are set
   * later.
   */
  forYaml: boolean
  /** Whether models without a price get the library's price. */
  libraryPrices: boolean
  /** The sizes for models that have none. */
  sizes: { context_length?: number; max_output_tokens?: number }
}

/**
 * Validates a draft. Leaves out what gateway.yaml does not accept and everything that refers to it, with a
 * problem for each. Throws an ImportError if environment variables are missing.
 */
export function settle(draft: Draft, problems: Problems, terms: SettleTerms): Imported {
  const sized = { ...draft, models: draft.models.map((model) => ({ ...terms.sizes, ...model })) }
  tellUnbounded(sized, problems)
  const kept = keepValid(terms.forYaml ? withoutDisabled(sized, problems) : sized, problems)
  const rendered = renderYaml(kept, terms)
  const unset = namesOfUnset(kept, terms.env)
  if (unset.length > 0 && !terms.forYaml) {
    throw new UnsetVariables(unset)
  }
  const parts = new Set(
    kept.channels.flatMap(({ api_keys }) =>
      api_keys.flatMap((key) => ('variable' in key ? [] : key.map(({ variable }) => variable))),
    ),
  )
  const env = {
    ...terms.env,
    ...Object.fromEntries(unset.map((name) => [name, parts.has(name) ? partStandIn : standIn])),
    ...Object.fromEntries(rendered.variables),
  }
  return {
    file: readGatewayYaml(rendered.text, { path: 'the imported settings', env }),
    disabledChannels: new Set(kept.channels.flatMap(({ name, disabled }) => (disabled ? [name] : []))),
    problems: problems.list,
    yaml: rendered,
  }
}

/**
 * Reports models without an output limit, because requests of unlimited cost are refused for keys with
 * limited money.
 */
function tellUnbounded({ models, tenants }: Draft, problems: Problems): void {
  const isLimited = tenants.some(
    ({ balance_usd, keys }) => balance_usd !== undefined || keys.some((key) => key.budget),
  )
  const unbounded = models.filter(({ max_output_tokens }) => max_output_tokens === undefined)
  if (!isLimited || unbounded.length === 0) return
  problems.changed(
    `${unbounded.length} models`,
    'keys with limited money must set max_tokens in each request to these models, unless you pass --max-output-tokens',
  )
}

/** Stands in for a value that only the gateway's environment will have. */
const standIn = 'http://not-set.invalid'
/** Stands in for a part of a credential. */
const partStandIn = 'NotSetInTheEnvironment'

function namesOfUnset(draft: Draft, env: SettleTerms['env']): string[] {
  const secrets = [
    ...draft.channels.flatMap(({ api_keys, proxy, headers }) => [
      ...api_keys.flat(),
      ...(proxy === undefined ? [] : [proxy]),
      ...Object.values(headers ?? {}),
    ]),
    ...draft.tenants.flatMap(({ keys }) => keys.flatMap(({ secret }) => secret ?? [])),
  ]
  const names = secrets.flatMap(({ variable, value }) =>
    value === undefined && !env[variable] ? [variable] : [],
  )
  return [...new Set(names)].sort()
}

function withoutDisabled(draft: Draft, problems: Problems): Draft {
  const channels = draft.channels.filter(({ name, disabled }) => {
    if (disabled) problems.lost(`channel "${name}"`, 'it is disabled, which gateway.yaml cannot express')
    return !disabled
  })
  return { ...draft, channels }
}

function keepValid(draft: Draft, problems: Problems): Draft {
  const write: WriteSecret = ({ value }) => value ?? standIn
  const valid = models(draft, problems)
  const ids = new Set(valid.map(({ id }) => id))
  const channels = draft.channels.flatMap((channel) => {
    // Otherwise the author of such an export could make the gateway send its files to an upstream of theirs.
    if (channel.api_keys.flat().some(({ value }) => value !== undefined && namesFile(value))) {
      problems.lost(
        `channel "${channel.name}"`,
        'a credential starts with "file:", which refers to a file in gateway.yaml',
      )
      return []
    }
    const offers = Object.entries(channel.models).filter(([model]) => ids.has(model) || model === '*')
    const words = { ...channel, models: Object.fromEntries(offers) }
    return passes(channelEntry, draftChannel(words, write), `channel "${channel.name}"`, problems)
      ? [words]
      : []
  })
  const channelNames = new Set(channels.map(({ name }) => name))
  const groups = draft.groups.flatMap((group) => {
    const own = group.channels.filter((name) => name === '*' || channelNames.has(name))
    if (own.length === 0) {
      problems.lost(`group "${group.name}"`, 'none of its channels are carried over')
      return []
    }
    const words = { ...group, channels: own, models: group.models.filter((id) => id === '*' || ids.has(id)) }
    return passes(groupEntry, words, `group "${group.name}"`, problems) ? [words] : []
  })
  const groupNames = new Set(groups.map(({ name }) => name))
  const tenants = draft.tenants.flatMap((tenant) => keepKeys(tenant, { groupNames, ids, write, problems }))
  return { models: valid, channels, groups, tenants }
}

function models(draft: Draft, problems: Problems): Draft['models'] {
  const valid = draft.models.filter((model) => passes(modelEntry, model, `model "${model.id}"`, problems))
  const ids = new Set(valid.map(({ id }) => id))
  return valid.map((model) => {
    const { fallbacks = [], ...rest } = model
    const known = fallbacks.filter((id) => ids.has(id))
    if (known.length < fallbacks.length)
      problems.lost(`model "${model.id}"`, 'fallbacks that are not carried over')
    return { ...rest, ...(known.length > 0 && { fallbacks: known }) }
  })
}

function keepKeys(
  tenant: TenantDraft,
  {
    groupNames,
    ids,
    write,
    problems,
  }: { groupNames: ReadonlySet<string>; ids: ReadonlySet<string>; write: WriteSecret; problems: Problems },
): TenantDraft[] {
  const keys = tenant.keys.flatMap((key) => {
    const where = `key "${key.name}" of ${tenant.name}`
    if (!groupNames.has(key.group)) {
      problems.lost(where, `its group "${key.group}" is not carried over`)
      return []
    }
    const { allowed_models: named, ...rest } = key
    const known = named?.filter((id) => ids.has(id) || id === '*')
    // A key that was restricted to some models must not be able to reach all of them.
    if (known?.length === 0) problems.changed(where, 'none of its models are carried over, so it is disabled')
    const words =
      known === undefined
        ? rest
        : known.length > 0
          ? { ...rest, allowed_models: known }
          : { ...rest, disabled: true }
    const alone = draftTenant({ name: 'any', keys: [words] }, write)
    return passes(tenantEntry, alone, where, problems) ? [words] : []
  })
  const words = { ...tenant, keys }
  return passes(tenantEntry, draftTenant({ ...words, keys: [] }, write), `tenant "${tenant.name}"`, problems)
    ? [words]
    : []
}

function passes(schema: z.ZodType, value: unknown, where: string, problems: Problems): boolean {
  const result = schema.safeParse(value)
  const issue = result.error?.issues[0]
  if (issue !== undefined)
    problems.lost(where, `not carried over at all: ${issue.path.join('.')} ${issue.message}`)
  return result.success
}
