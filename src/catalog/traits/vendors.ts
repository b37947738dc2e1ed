import type { Vendor } from './vendor.ts'
import { hosts } from './vendors/hosts.ts'
import { makers } from './vendors/makers.ts'
import { ownServers } from './vendors/own-servers.ts'

export const vendorNames = [
  'openai',
  'anthropic',
  'gemini',
  'mistral',
  'deepseek',
  'qwen',
  'xai',
  'moonshot',
  'zai',
  'minimax',
  'cohere',
  'azure-openai',
  'bedrock',
  'groq',
  'cerebras',
  'together',
  'fireworks',
  'nvidia',
  'huggingface',
  'openrouter',
  'litellm',
  'vllm',
  'ollama',
  'lmstudio',
  'llamacpp',
] as const
export type VendorName = (typeof vendorNames)[number]

export const vendors: Readonly<Record<VendorName, Vendor>> = { ...makers, ...hosts, ...ownServers }
