import { type Snippet, shellWord } from './snippet.ts'

/** What an agent needs to know. */
export interface AgentSource {
  origin: string
  model: string
  /** Of the model. Agents cannot know it by a name of ours. */
  contextLength?: number | null | undefined
  secret?: string | undefined
}

/** Settings of the coding agents that people use most. */
export function agentSnippets(source: AgentSource): Snippet[] {
  return [claudeCode, codex, opencode, qwenCode, cline, pi, aider, continueDev, mistralVibe].map((snippet) =>
    snippet(source),
  )
}

const shellKey = (secret: string | undefined) =>
  secret === undefined ? '"$TOLLGATE_KEY"' : shellWord(secret)
/** TOML takes the escapes of JSON. */
const inToml = (text: string) => JSON.stringify(text)
const exportLine = (secret: string | undefined) =>
  secret === undefined ? '' : `# in the shell: export TOLLGATE_KEY=${shellWord(secret)}\n`

/** The base URL has no `/v1` here. */
function claudeCode({ origin, model, contextLength, secret }: AgentSource): Snippet {
  const name = shellWord(model)
  return {
    id: 'claude-code',
    title: 'Claude Code',
    before: 'In the shell that starts it, or under "env" of ~/.claude/settings.json.',
    text: [
      'unset ANTHROPIC_API_KEY',
      `export ANTHROPIC_BASE_URL=${shellWord(origin)}`,
      `export ANTHROPIC_AUTH_TOKEN=${shellKey(secret)}`,
      `export ANTHROPIC_MODEL=${name} ANTHROPIC_DEFAULT_HAIKU_MODEL=${name}`,
      ...(contextLength == null ? [] : [`export CLAUDE_CODE_MAX_CONTEXT_TOKENS=${contextLength}`]),
      'claude',
    ].join('\n'),
  }
}

function codex({ origin, model, contextLength, secret }: AgentSource): Snippet {
  return {
    id: 'codex',
    title: 'Codex',
    before: '~/.codex/config.toml',
    text: `${exportLine(secret)}model = ${inToml(model)}
model_provider = "tollgate"
${contextLength == null ? '' : `model_context_window = ${contextLength}\n`}
[model_providers.tollgate]
name = "Tollgate"
base_url = ${inToml(`${origin}/v1`)}
env_key = "TOLLGATE_KEY"
wire_api = "responses"`,
  }
}

function opencode({ origin, model, secret }: AgentSource): Snippet {
  const settings = {
    $schema: 'https://opencode.ai/config.json',
    model: `tollgate/${model}`,
    provider: {
      tollgate: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Tollgate',
        options: { baseURL: `${origin}/v1`, apiKey: secret ?? '{env:TOLLGATE_KEY}' },
        models: { [model]: { name: model } },
      },
    },
  }
  return { id: 'opencode', title: 'opencode', before: 'opencode.json of the project', text: inFile(settings) }
}

function qwenCode({ origin, model, secret }: AgentSource): Snippet {
  return {
    id: 'qwen-code',
    title: 'Qwen Code',
    before: 'In the shell that starts it, or in the .env of the project.',
    text: [
      `export OPENAI_BASE_URL=${shellWord(`${origin}/v1`)}`,
      `export OPENAI_API_KEY=${shellKey(secret)}`,
      `export OPENAI_MODEL=${shellWord(model)}`,
      'qwen',
    ].join('\n'),
  }
}

function cline({ origin, model, secret }: AgentSource): Snippet {
  return {
    id: 'cline',
    title: 'Cline',
    before: 'Settings of the extension.',
    text: `API Provider: OpenAI Compatible
Base URL: ${origin}/v1
API Key: ${secret ?? '$TOLLGATE_KEY'}
Model ID: ${model}`,
  }
}

function pi({ origin, model, contextLength, secret }: AgentSource): Snippet {
  const settings = {
    providers: {
      tollgate: {
        baseUrl: `${origin}/v1`,
        api: 'openai-completions',
        apiKey: secret ?? '$TOLLGATE_KEY',
        models: [{ id: model, ...(contextLength == null ? {} : { contextWindow: contextLength }) }],
      },
    },
  }
  return { id: 'pi', title: 'pi', before: '~/.pi/agent/models.json', text: inFile(settings) }
}

function aider({ origin, model, secret }: AgentSource): Snippet {
  return {
    id: 'aider',
    title: 'aider',
    before: 'In the shell that starts it.',
    text: [
      `export OPENAI_API_BASE=${shellWord(`${origin}/v1`)}`,
      `export OPENAI_API_KEY=${shellKey(secret)}`,
      `aider --model ${shellWord(`openai/${model}`)}`,
    ].join('\n'),
  }
}

/** YAML takes strings of JSON. */
function continueDev({ origin, model, secret }: AgentSource): Snippet {
  return {
    id: 'continue',
    title: 'Continue',
    before: '~/.continue/config.yaml',
    text: `name: Tollgate
version: 1.0.0
schema: v1
models:
  - name: ${JSON.stringify(model)}
    provider: openai
    model: ${JSON.stringify(model)}
    apiBase: ${JSON.stringify(`${origin}/v1`)}
    apiKey: ${secret === undefined ? `\${{ secrets.TOLLGATE_KEY }}` : JSON.stringify(secret)}
    roles: [chat, edit, apply]`,
  }
}

function mistralVibe({ origin, model, secret }: AgentSource): Snippet {
  return {
    id: 'mistral-vibe',
    title: 'Mistral Vibe',
    before: '~/.vibe/config.toml',
    text: `${exportLine(secret)}active_model = ${inToml(model)}

[[providers]]
name = "tollgate"
api_base = ${inToml(`${origin}/v1`)}
api_key_env_var = "TOLLGATE_KEY"
api_style = "openai"
backend = "generic"

[[models]]
name = ${inToml(model)}
provider = "tollgate"
alias = ${inToml(model)}`,
  }
}

function inFile(settings: object): string {
  return JSON.stringify(settings, null, 2)
}
