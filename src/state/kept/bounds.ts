export interface KeptBounds {
  keptAnswerBytesMax: number
  keptChainBytesMax: number
  keptTenantBytesMax: number
  conversationItemsMax: number
  conversationsMax: number
  instanceDeadMs: number
  admitMs: number
}

export interface KeptCipher {
  seal(plain: string, owner: string): Buffer
  /** Throws for another key, another owner, and changed bytes. */
  open(sealed: Buffer, owner: string): string
}
