/** Asks a model that continues no assistant turn to continue one. */
export const continueInstruction =
  'Your last message is the beginning of your answer. Continue it exactly where it ends. Do not repeat any of it, and say nothing about this request.'
