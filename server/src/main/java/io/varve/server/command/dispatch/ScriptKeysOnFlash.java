package io.varve.server.command.dispatch;

import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Errors;
import io.varve.server.command.NestedCommands;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.flash.KeyNotResidentException;
import org.jspecify.annotations.Nullable;

/**
 * Brings the keys on flash that a script uses and does not declare. Confined to its event loop.
 *
 * <p>A script that has changed nothing runs again after the fetch, so others can use the shards meanwhile. Otherwise it
 * waits where it is, with all shards locked.
 */
final class ScriptKeysOnFlash {
    /** After this many fetches for one command, its script waits, as it may use many keys, one after the other. */
    private static final int MAX_RUNS = 4;
    /** Maximum number of waits for one command of a script. */
    private static final int MAX_WAITS = 128;
    private static final String NOT_FOUND_BEFORE = "ERR internal error: a key of the script is on flash, and the script"
            + " has not locked all shards";
    private static final String FLASH_FAILED = "ERR the flash tier failed while the script read a key from it";

    private final ServerState server;
    private final FlashKeyFetcher fetcher;
    private final OomGuard oomGuard;

    ScriptKeysOnFlash(ServerState server, FlashKeyFetcher fetcher, OomGuard oomGuard) {
        this.server = server;
        this.fetcher = fetcher;
        this.oomGuard = oomGuard;
    }

    /**
     * Brings the keys that a command of the script names.
     *
     * @return the error for the command; null if all of them are in memory or nowhere
     * @throws KeyNotResidentException if the script has to run again
     */
    @Nullable
    String bringNamed(CommandContext script, Batch nested, NestedCommands.Permissions permissions) {
        String refusal = null;
        for (int waits = 0; refusal == null && isAnyOnFlash(script, nested); waits++) {
            refusal = bringRecorded(script, nested, permissions, waits);
        }
        return refusal;
    }

    private static boolean isAnyOnFlash(CommandContext script, Batch nested) {
        boolean isAny = false;
        for (int i = 0; i < nested.keyCount(0); i++) {
            Key key = nested.key(i);
            isAny |= script.deferIfOnFlash(key);
        }
        return isAny;
    }

    /**
     * Brings the keys that were recorded for fetching.
     *
     * @param waits how often the command has waited
     * @return the error for the command; null if it can try again
     * @throws KeyNotResidentException if the script has to run again
     */
    @Nullable
    String bringRecorded(CommandContext script, Batch nested, NestedCommands.Permissions permissions, int waits) {
        if (!permissions.hasChanged() && !script.isInTransaction()
                && (script.batch().flashLookups().count() < MAX_RUNS || !permissions.hasAllShards())) {
            throw new KeyNotResidentException();
        }
        if (!permissions.hasAllShards() || waits == MAX_WAITS) {
            script.discardOtherKeys();
            return waits == MAX_WAITS ? Errors.OUT_OF_MEMORY : NOT_FOUND_BEFORE;
        }
        oomGuard.pins().pinInScript(script, nested);
        String[] refusal = new String[1];
        boolean arrived = server.blockedKeys().withoutCollecting(() -> {
            refusal[0] = switch (fetcher.awaitRecordedKeys(script.batch(), permissions::check)) {
                case ARRIVED -> null;
                case NO_SPACE -> Errors.OUT_OF_MEMORY;
                case FAILED -> FLASH_FAILED;
            };
            return refusal[0] == null;
        });
        return arrived ? null : refusal[0];
    }
}
