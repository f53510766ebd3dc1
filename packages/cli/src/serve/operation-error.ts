// The error for a correct request that could not be carried out. The control interface answers with its status.

/**
 * What was asked for is right, and was not done, or not wholly.
 *
 * `409`: something else is under way. `500`: this machine does not let us.
 */
export class OperationError extends Error {
  readonly status: 409 | 500

  constructor(status: 409 | 500, message: string) {
    super(message)
    this.status = status
  }
}
