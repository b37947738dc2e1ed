/** The icon of the pages where the operator has given no logo: a gate with its bar down. */
export const icon = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    '<rect width="32" height="32" rx="6" fill="#0b7370"/>' +
    '<path d="M9 25V8M9 12h15M9 18h15" stroke="#fff" stroke-width="3.5" stroke-linecap="round" fill="none"/>' +
    '</svg>',
)
