import type { Schema } from '../../api/client.ts'
import { type Vendor, vendors } from './vendors.ts'

/** Neither a vendor that we know, nor a server of one's own: a base URL in some format. */
export const other = 'other'

/** What the form of a new channel holds. */
export interface ChannelValues {
  /** Or `other`. */
  vendor: string
  name: string
  secret: string
  base_url: string
  /** Of those with `hasFormats`. */
  format: string
  /** Of Amazon: requests are signed. */
  isSigned: boolean
  isPrivate: boolean
  /** `any`: all that the upstream lists, also later. */
  scope: 'chosen' | 'any'
  models: string[]
}

export const newChannel: ChannelValues = {
  vendor: 'openai',
  name: '',
  secret: '',
  base_url: '',
  format: 'openai-chat',
  isSigned: true,
  isPrivate: false,
  scope: 'chosen',
  models: [],
}

/** What is wrong with a field, by its name. */
export const channelFaults = {
  name: (name: string, { vendor }: ChannelValues) =>
    name.trim() === '' && vendor === other ? 'Give it a name, such as main.' : null,
  base_url: (url: string, { vendor }: ChannelValues) =>
    hasFormats({ vendor }) && !/^https?:\/\//.test(url.trim())
      ? 'An address that begins with https:// or http://'
      : null,
  models: (models: string[], { scope }: ChannelValues) =>
    scope === 'chosen' && models.length === 0
      ? 'Choose one or more: read the list, or type names. Or take all.'
      : null,
}

export function isOwnServer(vendor: string): boolean {
  return vendors.some((one) => one.vendor === vendor && one.kind === 'own')
}

/** Whether the form asks for a format, because the gateway knows no usual address. */
export function hasFormats({ vendor }: Pick<ChannelValues, 'vendor'>): boolean {
  return vendor === other || vendor === amazon
}

export const amazon = 'bedrock'

/** Whether the form asks for an address. All others have one that the gateway knows. */
export function needsUrl({ vendor }: Pick<ChannelValues, 'vendor'>): boolean {
  return vendor === other || isOwnServer(vendor) || vendor === 'azure-openai' || vendor === amazon
}

/** Where the channel leads, and with what: enough to read its list of models. */
export function placeOf(values: ChannelValues): Schema<'UpstreamModelsRequest'> {
  const url = values.base_url.trim()
  return {
    api_keys: [values.secret.trim()],
    ...(needsUrl(values) && values.isPrivate ? { allow_private_address: true } : {}),
    ...(values.vendor === amazon ? { auth: { kind: values.isSigned ? 'sigv4' : 'bearer' } } : {}),
    ...(hasFormats(values)
      ? {
          ...(values.vendor === amazon ? { vendor: amazon } : {}),
          protocols: { [values.format]: url },
        }
      : { vendor: values.vendor as Vendor, ...(needsUrl(values) && url !== '' ? { base_url: url } : {}) }),
  }
}

/** The body that makes it. */
export function channelBody(values: ChannelValues): Schema<'ChannelRequest'> {
  const { name, vendor, scope, models } = values
  return {
    ...placeOf(values),
    name: name.trim() === '' ? vendor : name.trim(),
    models: scope === 'any' ? '*' : models,
  }
}
