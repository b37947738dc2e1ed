import { expect, test } from 'vitest'
import { withoutAccount } from '../../src/protocols/account-words.ts'

test.each([
  'The usage limit has been reached',
  'Weekly limit reached',
  'This request would exceed the rate limit of 30,000 input tokens per minute.',
  'No available channel for model missing-model under group default (distributor) (request id: 2026)',
  '当前分组 default 下对于模型 missing-model 无可用渠道',
  'The model is overloaded. Please try again in 20s.',
  'Input blocked: the prompt mentions a user project in the document.',
])('words about the request stay as they are: %s', (words) => {
  expect(withoutAccount(words)).toBe(words)
})

test.each([
  [
    'Rate limit reached for gpt-4o in organization org-AbC123dEf456 on tokens per min (TPM): Limit 30000, Used 25000, Requested 9000. Please try again in 8s. Visit https://platform.openai.com/account/rate-limits to learn more.',
    'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 25000, Requested 9000. Please try again in 8s.',
  ],
  [
    'Request too large for model `llama-3.3-70b` in organization `org_01j2x3y4` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 13155, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
    'Request too large for model `llama-3.3-70b` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 13155, please reduce your message size and try again. Need more tokens?',
  ],
  [
    'You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generate_requests, limit: 20, model: gemini-2.5-flash\nPlease retry in 34s.',
    '* Quota exceeded for metric: generate_requests, limit: 20, model: gemini-2.5-flash Please retry in 34s.',
  ],
  [
    'Too many requests for key sk-proj-abc123def456. Slow down.',
    'Too many requests for key (account). Slow down.',
  ],
  ['You exceeded your current quota, please check your plan and billing details.', undefined],
  [
    "This request would exceed your organization's rate limit of 450,000 input tokens per minute (org: 1b2c3d4e-55, model: claude-x). Please reduce the prompt length.",
    'This request would exceed the rate limit of 450,000 input tokens per minute (model: claude-x). Please reduce the prompt length.',
  ],
  ['Your credit balance is too low.', undefined],
  ['Incorrect API key provided: sk-abc1***xyz2.', undefined],
])('words about the account or the credential go: %s', (words, rest) => {
  expect(withoutAccount(words)).toBe(rest)
})
