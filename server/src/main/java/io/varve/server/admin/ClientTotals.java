package io.varve.server.admin;

/**
 * Sums over all clients. Immutable.
 *
 * @param waiting clients whose command is parked and has no reply yet
 * @param limited those among them that wait with a timeout
 * @param keys number of keys that clients wait for
 * @param bufferBytes bytes in connection buffers: received but not executed, or not yet sent
 * @param largestInputBytes largest amount that one client has sent and that is not executed
 * @param largestOutputBytes largest amount that is still to be sent to one client
 * @param watching clients that watch keys
 * @param listening clients that are subscribed to channels or patterns
 * @param watchedKeys number of watched keys; a key counts once for each client that watches it
 */
public record ClientTotals(int waiting, int limited, int keys, long bufferBytes, long largestInputBytes,
        long largestOutputBytes, int watching, int listening, long watchedKeys) {}
