/** The instruction that asks a model to continue an assistant turn if the model cannot do so natively. */
export const continueInstruction =
  'Your last message is the beginning of your answer. Continue it exactly where it ends. Do not repeat any of it, and say nothing about this request.'
