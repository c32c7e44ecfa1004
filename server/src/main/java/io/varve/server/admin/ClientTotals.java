package io.varve.server.admin;

/**
 * Sums over all clients. Immutable.
 *
 * @param waiting            those whose command was suspended and has no answer yet
 * @param limited            those of them that wait no longer than some time
 * @param keys               how many keys are waited for
 * @param bufferBytes        what connections hold for what was received and not executed, and for what was not yet sent
 * @param largestInputBytes  the most that one has sent and that is not executed
 * @param largestOutputBytes the most that one is still to be sent
 * @param watching           those that watch keys
 * @param listening          those that listen to channels or patterns
 * @param watchedKeys        how many keys are watched, each counted once for each client that watches it
 */
public record ClientTotals(int waiting, int limited, int keys, long bufferBytes, long largestInputBytes,
        long largestOutputBytes, int watching, int listening, long watchedKeys) {}
