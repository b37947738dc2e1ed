/** Where a deployment of the provider `bedrock` leads, in settings of a channel. */
export interface BedrockPlace {
  vendor: 'bedrock'
  protocols: Record<string, string>
  auth: Record<string, string>
}

interface BedrockTarget {
  place: BedrockPlace
  /** An API key of Bedrock, or the parts of a key of Amazon. An empty text is the identity of the machine. */
  key: unknown
  upstream: string
  region: string
}

/**
 * Reads the parameters of a deployment, or returns why it cannot be carried over. `textOf` reads a parameter
 * that may name a variable. https://docs.litellm.ai/docs/providers/bedrock
 */
export function bedrockTarget(
  model: string,
  params: Record<string, unknown>,
  textOf: (value: unknown) => string | undefined,
): BedrockTarget | string {
  const upstream = model.replace(/^(converse_like|converse|invoke|messages|openai)\//, '')
  const format = formats.find(({ names }) => names.test(upstream))
  if (format === undefined)
    return 'only Claude and GPT models of Bedrock are carried over, because many others have only its format Converse'
  const region = textOf(params.aws_region_name) ?? textOf('os.environ/AWS_REGION') ?? ''
  if (region === '') return 'it has no aws_region_name, or the environment variable for it is not set'
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: token, api_key } = params
  const isSigned = api_key === undefined || api_key === null
  const more = Object.entries(roleSettings).flatMap(([name, setting]) => {
    const value = textOf(params[name])
    return value === undefined ? [] : [[setting, value] as const]
  })
  return {
    place: {
      vendor: 'bedrock',
      protocols: { [format.protocol]: `https://bedrock-runtime.${region}.amazonaws.com${format.path}` },
      auth: isSigned ? { kind: 'sigv4', ...Object.fromEntries(more) } : { kind: 'bearer' },
    },
    key: isSigned ? [id, secret, token].filter((part) => part !== undefined && part !== null) : api_key,
    upstream,
    region,
  }
}

/** The names may begin with a region, as those of inference profiles do: `us.anthropic.`. */
const formats = [
  { names: /^([a-z-]+\.)?anthropic\./, protocol: 'anthropic-messages', path: '/anthropic' },
  { names: /^([a-z-]+\.)?openai\./, protocol: 'openai-chat', path: '/openai/v1' },
] as const

const roleSettings = {
  aws_role_name: 'role_arn',
  aws_session_name: 'session_name',
  aws_external_id: 'external_id',
} as const

/** The parameters that are carried over. */
export const bedrockParameters: readonly string[] = [
  ...['aws_region_name', 'aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'],
  ...Object.keys(roleSettings),
]
