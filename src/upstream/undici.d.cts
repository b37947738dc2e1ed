export { buildConnector, Pool } from 'undici'
