import { anthropicFamilies } from './families/anthropic.ts'
import { deepseekFamilies } from './families/deepseek.ts'
import { geminiFamilies } from './families/gemini.ts'
import { glmFamilies } from './families/glm.ts'
import { kimiFamilies } from './families/kimi.ts'
import { mistralFamilies } from './families/mistral.ts'
import { openModelFamilies } from './families/open-models.ts'
import { openaiFamilies } from './families/openai.ts'
import { openaiThinkingFamilies } from './families/openai-thinking.ts'
import { qwenFamilies } from './families/qwen.ts'
import { webSearchFamilies } from './families/web-search.ts'
import { xaiFamilies } from './families/xai.ts'
import type { Family } from './family.ts'

/**
 * The built-in table. All lines that match a model apply, and later lines override earlier ones trait by
 * trait.
 */
export const families: readonly Family[] = [
  ...openaiFamilies,
  ...openaiThinkingFamilies,
  ...anthropicFamilies,
  ...geminiFamilies,
  ...mistralFamilies,
  ...deepseekFamilies,
  ...xaiFamilies,
  ...kimiFamilies,
  ...glmFamilies,
  ...qwenFamilies,
  ...openModelFamilies,
  ...webSearchFamilies,
]
