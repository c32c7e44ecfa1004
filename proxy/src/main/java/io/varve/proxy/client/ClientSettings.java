package io.varve.proxy.client;

/**
 * Limits of clients. Immutable.
 *
 * @param password empty: clients need not authenticate
 * @param maxClients maximum number of clients
 * @param maxPipeline maximum number of a client's requests in flight
 * @param maxBulkBytes maximum size of an argument
 * @param maxInputBytes maximum size of a request
 * @param maxOutputBytes size of unsent replies at which a client is disconnected
 */
public record ClientSettings(String password, int maxClients, int maxPipeline, long maxBulkBytes, int maxInputBytes,
        long maxOutputBytes) {
    @Override
    public String toString() {
        return "limits of clients, " + (password.isEmpty() ? "without" : "with") + " a password";
    }
}
