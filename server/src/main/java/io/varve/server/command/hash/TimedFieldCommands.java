package io.varve.server.command.hash;

import io.varve.memory.item.Item;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;

import static io.varve.server.command.hash.HashCommands.hash;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * HSETEX, HGETEX and HGETDEL: values of fields together with their expiry times. Immutable: static handlers.
 *
 * <p>They accept what Redis 8 and Valkey 9.1 accept, reply Valkey's errors, and publish Redis's events: a time in the
 * past removes fields with {@code hdel}, as it does in HEXPIRE.
 */
final class TimedFieldCommands {
    private TimedFieldCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(hash("hsetex", -6, "8.0.0", "Sets fields of a hash, and their TTL").access("RW update")
                .flags(WRITE, DENYOOM, FAST).complexity("O(N) where N is the number of fields")
                .handler(TimedFieldCommands::setAndExpire));
        table.add(hash("hgetex", -5, "8.0.0", "Returns the values of hash fields and sets their TTL")
                .access("RW access update").flags(WRITE, FAST).complexity("O(N) where N is the number of fields")
                .handler(TimedFieldCommands::getAndExpire));
        table.add(hash("hgetdel", -5, "8.0.0", "Returns the values of hash fields and deletes the fields")
                .access("RW access delete").flags(WRITE, FAST).complexity("O(N) where N is the number of fields")
                .handler(TimedFieldCommands::getAndDelete));
    }

    // --- HSETEX

    private static void setAndExpire(CommandContext context) {
        FieldOptions options = FieldOptions.of(context);
        HashValue hash = HashValue.of(context);
        if (!options.parse(FieldOptions.OF_SETTING, 2)
                || hash.openForWriting(context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        if (options.has(hash.size() == 0 ? FieldOptions.XX : FieldOptions.NX)) {
            context.reply().integer(0);
            return;
        }
        long at = options.has(FieldOptions.TIME) ? options.time() : Item.NEVER;
        if (options.has(FieldOptions.TIME) && at == FieldOptions.REFUSED) {
            return;
        }
        if (!allowsFields(context, options, hash)) {
            context.reply().integer(0);
            return;
        }
        int first = options.first();
        context.countChanges((context.argumentCount() - first) / 2);
        if (options.has(FieldOptions.TIME) && at <= context.expiryMillis()) {
            removeExpired(context, hash, first);
        } else {
            TimedPuts.of(context).putAll(first, at, options.has(FieldOptions.KEEPTTL));
            context.events().emit(KeyEvent.HSET, context.keyAt(0));
            if (options.has(FieldOptions.TIME)) {
                context.events().emit(KeyEvent.HEXPIRE, context.keyAt(0));
            }
            record(context, hash, options, at);
        }
        context.reply().integer(1);
    }

    /** Whether FNX or FXX allows to set the fields. */
    private static boolean allowsFields(CommandContext context, FieldOptions options, HashValue hash) {
        if (options.has(FieldOptions.FNX | FieldOptions.FXX)) {
            boolean wanted = options.has(FieldOptions.FXX);
            for (int i = options.first(); i < context.argumentCount(); i += 2) {
                if (hash.findArgument(i) != wanted) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Sets fields whose time has passed: they are gone at once. */
    private static void removeExpired(CommandContext context, HashValue hash, int first) {
        context.events().emit(KeyEvent.HSET, context.keyAt(0));
        long removed = FieldRemoval.of(context).removePairs(first);
        hash.emitRemoval();
        if (removed > 0) {
            HashExpiryCommands.recordRemoval(context, hash, first, 2);
        }
    }

    /** Records the command with a time that does not depend on the clock, and without its conditions. */
    private static void record(CommandContext context, HashValue hash, FieldOptions options, long at) {
        if (!context.isRecording()) {
            return;
        }
        int first = options.first();
        int arguments = context.argumentCount() - first;
        ChangeRecorder recorder;
        if (at != Item.NEVER) {
            recorder = context.record(RecordedCommand.HSETEX, context.keyAt(0), arguments + 6)
                    .argument(RecordedCommand.PXAT).argument(at);
            recorder.argument(RecordedCommand.FIELDS).argument(arguments / 2);
        } else if (options.has(FieldOptions.KEEPTTL) && hash.keepsTimes()) {
            recorder = context.record(RecordedCommand.HSETEX, context.keyAt(0), arguments + 5)
                    .argument(RecordedCommand.KEEPTTL);
            recorder.argument(RecordedCommand.FIELDS).argument(arguments / 2);
        } else {
            recorder = context.record(RecordedCommand.HSET, context.keyAt(0), arguments + 2);
        }
        argumentsFrom(context, recorder, first);
    }

    private static void argumentsFrom(CommandContext context, ChangeRecorder recorder, int first) {
        for (int i = first; i < context.argumentCount(); i++) {
            recorder.argument(context.argumentAddress(i), context.argumentLength(i));
        }
        recorder.end();
    }

    // --- HGETEX

    private static void getAndExpire(CommandContext context) {
        FieldOptions options = FieldOptions.of(context);
        HashValue hash = HashValue.of(context);
        if (!options.parse(FieldOptions.OF_READING, 1) || hash.openForFields(false, 1) == Found.WRONG_TYPE) {
            return;
        }
        int first = options.first();
        long at = options.has(FieldOptions.TIME) ? options.time() : Item.NEVER;
        if (options.has(FieldOptions.TIME) && at == FieldOptions.REFUSED) {
            return;
        }
        boolean changes = options.has(FieldOptions.TIME | FieldOptions.PERSIST) && hash.size() > 0;
        if (changes) {
            hash.recordHidden();
        }
        if (changes && options.has(FieldOptions.TIME) && at <= context.expiryMillis()) {
            replyAndRemove(context, hash, first);
            return;
        }
        context.reply().array(context.argumentCount() - first);
        for (int i = first; i < context.argumentCount(); i++) {
            hash.replyValueOrNil(context.reply(), hash.findArgument(i));
        }
        if (changes && options.has(FieldOptions.PERSIST)) {
            long taken = HashTimes.of(context).removeAllSilently(first);
            changed(context, first, KeyEvent.HPERSIST, RecordedCommand.HPERSIST, Item.NEVER, taken);
        } else if (changes) {
            long given = HashTimes.of(context).setAllSilently(first, at);
            changed(context, first, KeyEvent.HEXPIRE, RecordedCommand.HPEXPIREAT, at, given);
        }
    }

    /** Publishes and records new times of fields; nothing if {@code count} is 0. */
    private static void changed(CommandContext context, int first, KeyEvent event, RecordedCommand command, long at,
            long count) {
        if (count == 0) {
            return;
        }
        context.events().emit(event, context.keyAt(0));
        context.countChanges(count);
        if (context.isRecording()) {
            int fields = context.argumentCount() - first;
            ChangeRecorder recorder = context.record(command, context.keyAt(0), fields + (at == Item.NEVER ? 4 : 5));
            if (at != Item.NEVER) {
                recorder.argument(at);
            }
            argumentsFrom(context, recorder.argument(RecordedCommand.FIELDS).argument(fields), first);
        }
    }

    // --- HGETDEL

    private static void getAndDelete(CommandContext context) {
        if (!context.argumentIs(2, "FIELDS")) {
            context.syntaxError();
            return;
        }
        FieldOptions options = FieldOptions.of(context);
        HashValue hash = HashValue.of(context);
        if (options.parse(0, 1) && hash.openForWriting(context.keyAt(0)) != Found.WRONG_TYPE) {
            replyAndRemove(context, hash, options.first());
        }
    }

    private static void replyAndRemove(CommandContext context, HashValue hash, int first) {
        long removed = FieldRemoval.of(context).replyAndRemove(first);
        if (removed > 0) {
            hash.emitRemoval();
            context.countChanges(removed);
            HashExpiryCommands.recordRemoval(context, hash, first, 1);
        }
    }
}
