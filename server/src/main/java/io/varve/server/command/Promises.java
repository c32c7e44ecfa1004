package io.varve.server.command;

import io.varve.memory.item.Key;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.blocking.Pass;
import org.jspecify.annotations.Nullable;

/**
 * Has commands run behind those who wait for keys and were promised them. Immutable: static methods only.
 *
 * <p>A command that is not to run now has done nothing. Its handler returns without a reply, and it is run again later.
 *
 * @see BlockedKeys
 */
public final class Promises {
    private Promises() {}

    /**
     * Whether commands are not to run now, because somebody was promised a key that they name, or would be while others wait until
     * nothing is promised.
     *
     * @param named whose keys, their shards locked
     * @param first number of the first command of them
     * @param end   number behind the last one
     */
    public static boolean holdUp(Invocation call, Batch named, int first, int end) {
        BlockedKeys blocked = call.server().blockedKeys();
        if (!blocked.isAnyHeldUp()) {
            return false;
        }
        for (int command = first; command < end; command++) {
            Key key = keyHeldUp(call, blocked, named, command);
            if (key != null) {
                Suspension wait = Blocking.heldUp(call);
                Pass pass = new Pass(Pass.Kind.CALL);
                if (blocked.behind(key, pass, wait::again)) {
                    call.client().pass(pass);
                }
                call.runAgainAfter(wait);
                return true;
            }
        }
        return false;
    }

    private static @Nullable Key keyHeldUp(Invocation call, BlockedKeys blocked, Batch named, int command) {
        int first = named.firstKey(command);
        int count = named.keyCount(command);
        for (int i = first; i < first + count; i++) {
            if (blocked.isHeldUp(named.key(i))) {
                return named.key(i);
            }
        }
        CommandSpec spec = named.spec(command);
        CommandSpec.TargetDatabase target = spec == null ? null : spec.targetDatabase();
        int database = target == null || count == 0
                ? -1
                : target.of(new BatchArguments(named, command), call.cache().databaseCount());
        if (database >= 0) {
            Key name = named.key(first + count - 1);
            call.session().bind(call.keyElsewhere(), database, name.address(), name.length());
            if (blocked.isHeldUp(call.keyElsewhere())) {
                return call.keyElsewhere();
            }
        }
        return null;
    }

    /** The same for a command that names no key, of which no shard is locked. {@link #end} is to follow. */
    public static boolean holdUp(Invocation call) {
        CommandSpec spec = call.spec();
        if (spec.changesAllKeys()) {
            // Under the locks nobody is between asking whether a key is held up and changing it.
            call.session().lock(call.allShards());
            try {
                return waits(call, Pass.Kind.CHANGE);
            } finally {
                call.session().unlock(call.allShards());
            }
        }
        return spec.looksAtAllKeys() && holdUpLook(call);
    }

    /** Whether a command that looks at keys which it does not name, or at who waits for them, is not to do so now. */
    static boolean holdUpLook(Invocation call) {
        return call.server().blockedKeys().isAnyHeldUp() && waits(call, Pass.Kind.LOOK);
    }

    /** The same for a transaction with commands that work on keys which they do not name; all shards are locked. {@link #end} follows. */
    public static boolean holdUpTransaction(Invocation exec) {
        return exec.server().blockedKeys().isAnyHeldUp() && waits(exec, Pass.Kind.CHANGE);
    }

    private static boolean waits(Invocation call, Pass.Kind kind) {
        Pass before = call.takePass();
        BlockedKeys blocked = call.server().blockedKeys();
        if (before != null && before.kind() != kind) {
            blocked.leave(before);
            before = null;
        }
        Pass pass = before == null ? new Pass(kind) : before;
        Suspension wait = Suspension.unnoticed();
        if (blocked.admits(pass, wait::again)) {
            if (kind == Pass.Kind.CHANGE) {
                call.pass(pass);
            }
            return false;
        }
        call.client().pass(pass);
        call.runAgainAfter(wait);
        return true;
    }

    /** The command has run, or will not, unless it waits: others may go on. */
    public static void end(Invocation call) {
        Pass pass = call.takePass();
        if (pass != null) {
            call.server().blockedKeys().leave(pass);
        }
    }

    /** What is to be done in place of {@link #end}, by any thread: what the command changes is changed later. */
    static Runnable endLater(Invocation call) {
        Pass pass = call.takePass();
        BlockedKeys blocked = call.server().blockedKeys();
        return pass == null ? () -> {} : () -> blocked.leave(pass);
    }
}
