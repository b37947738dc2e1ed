import { parseDocument } from 'yaml'
import { isMap } from './cells.ts'
import type { Draft, KeyDraft, ModelDraft, TenantDraft } from './imported.ts'
import { tenantsOfKeys } from './lite-llm-keys.ts'
import { Deployments, type Environment, environVariable } from './lite-llm-models.ts'
import { VariableNames, visibleName } from './names.ts'
import { ImportError, type Problems } from './problems.ts'

interface Source {
  /** The text of `config.yaml`. */
  config: string
  /** The exported keys as JSON, if there are any. */
  keys: string | undefined
  env: Environment
}

/**
 * Converts a LiteLLM configuration into a draft. The settings are those of
 * https://docs.litellm.ai/docs/proxy/configs and https://docs.litellm.ai/docs/proxy/reliability, read
 * 2026-11-23. Throws an ImportError if the file is not a configuration.
 */
export function draftFromLiteLlm({ config, keys, env }: Source, problems: Problems): Draft {
  const data = readConfig(config)
  const variables = new VariableNames(config.match(/(?<=os\.environ\/)\w+/g) ?? [])
  const deployments = new Deployments(env, variables, problems)
  listOfMaps(data.model_list, 'model_list').forEach((entry, at) => {
    deployments.add(entry, at)
  })
  const { models, channels } = deployments
  if (models.size === 0)
    throw new ImportError(
      'none of the models in model_list can be carried over. The documentation lists what is supported',
    )
  const settings = ['router_settings', 'litellm_settings'].map((name) =>
    isMap(data[name]) ? data[name] : {},
  )
  for (const section of settings) addFallbacks(models, section, problems)
  for (const section of settings) addAliases(models, section, problems)
  tellRest(data, problems)
  const tenants = keys === undefined ? [] : tenantsOfKeys(keys, new Set(models.keys()), problems)
  const master = masterTenant(data, tenants, variables, problems)
  return {
    models: [...models.values()],
    channels,
    groups: [{ name: 'default', models: ['*'], channels: ['*'] }],
    tenants: master,
  }
}

function readConfig(text: string): Record<string, unknown> {
  let data: unknown
  try {
    const document = parseDocument(text, { prettyErrors: true })
    const [error] = document.errors
    if (error !== undefined) throw error
    data = document.toJS({ maxAliasCount: 1000 })
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.split('\n')[0] : ''
    throw new ImportError(`the configuration is not valid YAML: ${message}`, { cause })
  }
  if (!isMap(data) || data.model_list === undefined) {
    throw new ImportError('the configuration has no model_list. Pass the config.yaml of LiteLLM')
  }
  return data
}

function listOfMaps(value: unknown, name: string): Record<string, unknown>[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw new ImportError(`${name} must be a list`)
  return value.map((entry, at) => {
    if (isMap(entry)) return entry
    throw new ImportError(`${name}[${at}] must be a map`)
  })
}

/**
 * Adds fallbacks such as `fallbacks: [{a: [b, c]}]`. A cycle does no harm, because a request tries each model
 * only once.
 */
function addFallbacks(
  models: Map<string, ModelDraft>,
  section: Record<string, unknown>,
  problems: Problems,
): void {
  for (const map of listOfMaps(section.fallbacks, 'fallbacks')) {
    for (const [id, list] of Object.entries(map)) {
      const where = `fallbacks of "${id}"`
      const model = models.get(id)
      const named = Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
      if (model === undefined || id === '*') {
        problems.lost(where, 'the model is not carried over, or is "*"')
        continue
      }
      const known = named.filter((one) => one !== id && one !== '*' && models.has(one))
      if (known.length < named.length)
        problems.lost(where, 'fallbacks to the model itself or to models that are not carried over')
      const all = [...new Set([...(model.fallbacks ?? []), ...known])]
      if (all.length > 0) model.fallbacks = all
    }
  }
}

function addAliases(
  models: Map<string, ModelDraft>,
  section: Record<string, unknown>,
  problems: Problems,
): void {
  const aliases = isMap(section.model_group_alias) ? section.model_group_alias : {}
  const taken = new Set([...models.values()].flatMap(({ aliases }) => aliases ?? []))
  for (const [alias, value] of Object.entries(aliases)) {
    const where = `alias "${alias}"`
    const target = isMap(value) ? value.model : value
    const model = typeof target === 'string' && target !== '*' ? models.get(target) : undefined
    if (model === undefined) problems.lost(where, 'its model is not carried over')
    else if (alias === '*' || visibleName(alias, 256) !== alias)
      problems.lost(where, 'its name is not a valid model name in Tollgate')
    else if (models.has(alias)) problems.lost(where, 'a model already has this name')
    else if (!taken.has(alias)) {
      taken.add(alias)
      model.aliases = [...(model.aliases ?? []), alias]
    }
  }
}

/** Converts the master key, so that clients using it keep working. */
function masterTenant(
  data: Record<string, unknown>,
  tenants: TenantDraft[],
  variables: VariableNames,
  problems: Problems,
): TenantDraft[] {
  const key = isMap(data.general_settings) ? data.general_settings.master_key : undefined
  if (typeof key !== 'string' || key === '') return tenants
  const where = 'general_settings.master_key'
  const variable = environVariable(key)
  if (variable === undefined && !/^[\x21-\x7e]{16,512}$/.test(key)) {
    problems.lost(where, 'a key must have 16 to 512 visible ASCII characters, so its clients need a new one')
    return tenants
  }
  problems.changed(where, 'in Tollgate it can call models, but has no admin rights')
  const secret = {
    variable: variable ?? variables.give('litellm', 'master', 'key'),
    value: variable ? undefined : key,
  }
  const master: KeyDraft = { name: 'master', group: 'default', secret }
  const home = tenants.find(({ name }) => name === 'litellm')
  if (home === undefined) return [{ name: 'litellm', keys: [master] }, ...tenants]
  const keys = home.keys.map((one) => (one.name === 'master' ? { ...one, name: 'master #1' } : one))
  return tenants.map((tenant) => (tenant === home ? { ...home, keys: [master, ...keys] } : tenant))
}

function tellRest(data: Record<string, unknown>, problems: Problems): void {
  for (const [section, value] of Object.entries(data)) {
    if (section === 'model_list') continue
    if (!isMap(value)) {
      problems.lost(section, 'there is no equivalent in Tollgate')
      continue
    }
    const names = Object.keys(value).filter(
      (name) => !carried.has(`${section}.${name}`) && !carried.has(name),
    )
    if (names.length > 0) problems.lost(section, names.join(', ').slice(0, 300))
  }
}

const carried: ReadonlySet<string> = new Set([
  'fallbacks',
  'model_group_alias',
  'general_settings.master_key',
])
