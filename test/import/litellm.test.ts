import { expect, test } from 'vitest'
import { draftFromLiteLlm } from '../../src/imports/lite-llm.ts'
import { ImportError, Problems } from '../../src/imports/problems.ts'
import { settle } from '../../src/imports/settle.ts'

function read(
  config: string,
  { keys, env = {}, forYaml = true }: { keys?: string; env?: Record<string, string>; forYaml?: boolean } = {},
) {
  const problems = new Problems()
  const draft = draftFromLiteLlm({ config, keys, env }, problems)
  return settle(draft, problems, { env, forYaml, libraryPrices: false, sizes: {} })
}

const placeholder = (variable: string) => `\${${variable}}`
const config = `
model_list:
  - model_name: chat
    litellm_params: { model: azure/deployed, api_base: "https://x.openai.azure.com", api_key: os.environ/AZURE_KEY, api_version: "2024-02-01", rpm: 6 }
  - model_name: chat
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY, weight: 3 }
    model_info: { input_cost_per_token: 0.0000025, output_cost_per_token: 1e-05, max_output_tokens: 16384, max_input_tokens: 128000 }
  - model_name: chat
    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/OPENAI_API_KEY }
  - model_name: small
    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/OPENAI_API_KEY }
  - model_name: local
    litellm_params: { model: ollama/llama3, api_base: "http://localhost:11434" }
  - model_name: aws
    litellm_params: { model: bedrock/amazon.nova-lite-v1:0 }
  - model_name: "openai/*"
    litellm_params: { model: "openai/*", api_key: os.environ/OPENAI_API_KEY }
router_settings:
  routing_strategy: least-busy
  fallbacks: [{ chat: [small, nowhere] }, { small: [chat, small] }]
  model_group_alias: { default-chat: chat, small: chat }
general_settings: { master_key: sk-a-long-master-key, database_url: "postgresql://x" }
`

test('deployments at one place become a channel, with names, weights, prices, sizes, fallbacks and aliases', () => {
  const { file } = read(config)
  expect(
    file.channels.map(({ name, vendor, protocols, offers, weight }) => ({
      name,
      vendor,
      protocols,
      weight,
      offers: offers.map(({ model, upstreamModel }) => `${model}=${upstreamModel}`),
    })),
  ).toEqual([
    {
      name: 'azure x.openai.azure.com',
      vendor: 'azure-openai',
      weight: 1,
      offers: ['chat=deployed'],
      protocols: {
        'openai-chat': 'https://x.openai.azure.com/openai/v1',
        'openai-responses': 'https://x.openai.azure.com/openai/v1',
      },
    },
    {
      name: 'openai',
      vendor: 'openai',
      weight: 3,
      offers: ['chat=gpt-4o', 'small=gpt-4o-mini'],
      protocols: expect.objectContaining({ 'openai-chat': 'https://api.openai.com/v1' }),
    },
    {
      name: 'openai #3',
      vendor: 'openai',
      weight: 1,
      offers: ['chat=gpt-4o-mini'],
      protocols: expect.anything(),
    },
    {
      name: 'ollama localhost:11434',
      vendor: 'ollama',
      weight: 1,
      offers: ['local=llama3'],
      protocols: { 'openai-chat': 'http://localhost:11434/v1' },
    },
  ])
  // Fallbacks in a circle stay: a request asks each model once.
  expect(file.models).toMatchObject([
    { id: 'chat', fallbacks: ['small'], aliases: ['default-chat'] },
    { id: 'small', fallbacks: ['chat'], aliases: [] },
    { id: 'local' },
  ])
})

test('what has no place here is named', () => {
  const { problems } = read(config)
  const lost = problems.filter(({ level }) => level === 'lost').map(({ where, what }) => `${where}: ${what}`)
  expect(lost).toEqual(
    expect.arrayContaining([
      'model_list[0] "chat": its rpm',
      expect.stringMatching(/^model_list\[5\] "aws": only Claude and GPT models of Bedrock are carried over/),
      expect.stringMatching(/^model_list\[6\] "openai\/\*": it contains a pattern/),
      'fallbacks of "chat": fallbacks to the model itself or to models that are not carried over',
      'alias "small": a model already has this name',
      'router_settings: routing_strategy',
      'general_settings: database_url',
    ]),
  )
})

test('variables of the environment stay variables in gateway.yaml, and must be set to write rows', () => {
  const { yaml, file } = read(config)
  expect(yaml?.text).toContain(placeholder('OPENAI_API_KEY'))
  expect([...(yaml?.variables ?? [])]).toEqual([['LITELLM_MASTER_KEY', 'sk-a-long-master-key']])
  expect(file.tenants).toMatchObject([
    { name: 'litellm', keys: [{ name: 'master', secret: 'sk-a-long-master-key' }] },
  ])
  expect(() => read(config, { forYaml: false })).toThrow(/not set: AZURE_KEY, OPENAI_API_KEY/)
  const env = { AZURE_KEY: 'azure-key-1', OPENAI_API_KEY: `openai-${placeholder('KEY')}-1` }
  expect(read(config, { forYaml: false, env }).file.channels[1]?.credentials).toEqual([env.OPENAI_API_KEY])
})

test('keys of LiteLLM are hashes: each gets a new secret, and its limits, and says so', () => {
  const keys = JSON.stringify({
    keys: [
      {
        token: 'a'.repeat(64),
        key_alias: 'app',
        team_alias: 'shop',
        models: ['small', 'gone'],
        max_budget: 10,
        budget_duration: '30d',
        rpm_limit: 60,
        spend: 3,
      },
      {
        token: 'b'.repeat(64),
        key_name: 'sk-...wxyz',
        user_id: 'ann',
        models: ['all-proxy-models'],
        blocked: true,
        expires: '2030-01-01T00:00:00Z',
      },
      { token: 'c'.repeat(64), key_alias: 'app', team_alias: 'shop', models: ['gone'] },
    ],
  })
  const { file, problems } = read(config, { keys })
  const [, shop, ann] = file.tenants
  expect(shop).toMatchObject({
    name: 'shop',
    keys: [
      {
        name: 'app',
        secret: undefined,
        allowedModels: ['small'],
        budget: { month: 10_000_000_000n },
        limits: { requestsPerMinute: 60 },
      },
      // It could reach one model only, which is not here: it must not reach all.
      { name: 'app #cccccccc', disabled: true },
    ],
  })
  expect(ann).toMatchObject({
    name: 'ann',
    keys: [{ name: 'sk-...wxyz', disabled: true, expiresAt: new Date('2030-01-01') }],
  })
  expect(problems.filter(({ what }) => what.startsWith('its secret, because LiteLLM')).length).toBe(3)
})

test.each([
  ['a: [', /is not valid YAML/],
  ['', /has no model_list/],
  ['model_list: 3', /model_list must be a list/],
  ['model_list: [3]', /model_list\[0\] must be a map/],
  [
    'model_list: [{ model_name: a, litellm_params: { model: unknown/x } }]',
    /none of the models in model_list can be carried over/,
  ],
  ['model_list: &a [*a]', /must be a map|is not valid YAML/],
])('a malformed configuration is refused: %s', (text, message) => {
  expect(() => read(text)).toThrow(ImportError)
  expect(() => read(text)).toThrow(message)
})

test('a master key that is too short is lost, with the reason', () => {
  const { problems, file } = read(
    'model_list: [{ model_name: a, litellm_params: { model: openai/a, api_key: k } }]\ngeneral_settings: { master_key: sk-1234 }',
  )
  expect(file.tenants).toEqual([])
  expect(problems).toContainEqual(
    expect.objectContaining({ where: 'general_settings.master_key', level: 'lost' }),
  )
})

test('a credential that would name a file of the gateway leaves its channel out, and is reported without its text', () => {
  const dump = `
model_list:
  - model_name: chat
    litellm_params: { model: openai/gpt-4o, api_base: "https://theirs.example/v1", api_key: "file:/etc/shadow" }
  - model_name: chat
    litellm_params: { model: openai/gpt-4o, api_key: sk-of-the-vendor-0001 }
`
  const { file, problems } = read(dump)
  expect(file.channels.map(({ credentials }) => credentials)).toEqual([['sk-of-the-vendor-0001']])
  const text = JSON.stringify(problems)
  expect(text).toContain('starts with \\"file:\\", which refers to a file in gateway.yaml')
  expect(text).not.toContain('/etc/shadow')
})

const bedrock = `
model_list:
  - model_name: claude
    litellm_params: { model: bedrock/us.anthropic.claude-haiku-4-5-v1:0, aws_region_name: eu-west-1, aws_role_name: "arn:aws:iam::123456789012:role/models", aws_session_name: lite }
  - model_name: opus
    litellm_params: { model: bedrock/converse/anthropic.claude-opus-4-8, aws_region_name: os.environ/REGION, aws_access_key_id: os.environ/KEY_ID, aws_secret_access_key: os.environ/KEY_SECRET }
  - model_name: oss
    litellm_params: { model: bedrock/openai.gpt-oss-20b-1:0, aws_access_key_id: AKIAEXAMPLEEXAMPLE00, aws_secret_access_key: aSecret/of/forty+letters, aws_region_name: us-east-1 }
  - model_name: keyed
    litellm_params: { model: bedrock/anthropic.claude-haiku-4-5, api_key: os.environ/BEDROCK_KEY, aws_region_name: us-east-1 }
  - model_name: nowhere
    litellm_params: { model: bedrock/anthropic.claude-haiku-4-5, aws_profile_name: dev }
`

test('models of Bedrock that need no Converse are signed for: by the machine, a role or a key', () => {
  const { file, problems, yaml } = read(bedrock, { env: { REGION: 'us-west-2' } })
  expect(file.channels).toMatchObject([
    {
      vendor: 'bedrock',
      protocols: { 'anthropic-messages': 'https://bedrock-runtime.eu-west-1.amazonaws.com/anthropic' },
      connection: {
        auth: { kind: 'sigv4', roleArn: 'arn:aws:iam::123456789012:role/models', sessionName: 'lite' },
      },
      credentials: [''],
      offers: [{ model: 'claude', upstreamModel: 'us.anthropic.claude-haiku-4-5-v1:0' }],
    },
    {
      protocols: { 'anthropic-messages': 'https://bedrock-runtime.us-west-2.amazonaws.com/anthropic' },
      connection: { auth: { kind: 'sigv4' } },
      offers: [{ upstreamModel: 'anthropic.claude-opus-4-8' }],
    },
    {
      protocols: { 'openai-chat': 'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1' },
      connection: { auth: { kind: 'sigv4' } },
      credentials: ['AKIAEXAMPLEEXAMPLE00:aSecret/of/forty+letters'],
    },
    { connection: { auth: { kind: 'bearer' } } },
  ])
  expect(yaml?.text).toContain(`${placeholder('KEY_ID')}:${placeholder('KEY_SECRET')}`)
  expect(yaml?.text).not.toContain('aSecret/of')
  expect(
    problems.filter(({ level }) => level === 'lost').map(({ where, what }) => `${where}: ${what}`),
  ).toEqual([
    'model_list[4] "nowhere": it has no aws_region_name, or the environment variable for it is not set',
  ])
})

test('a key of Bedrock whose variables are not set is refused by their names', () => {
  expect(() => read(bedrock, { env: { REGION: 'us-west-2' }, forYaml: false })).toThrow(
    expect.objectContaining({ names: ['BEDROCK_KEY', 'KEY_ID', 'KEY_SECRET'] }),
  )
})
