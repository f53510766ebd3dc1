// What reads JSON that somebody else wrote, for the packages beside core: `@portcullis/core/json`.

export { parseJson } from './ground/json.ts'
