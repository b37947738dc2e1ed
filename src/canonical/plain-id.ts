/** The characters allowed in the ids of answers, conversations and items. Postgres refuses NUL. */
export const plainId = /^[\x21-\x7e]{1,256}$/
