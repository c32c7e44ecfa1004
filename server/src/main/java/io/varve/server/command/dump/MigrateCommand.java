package io.varve.server.command.dump;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.clustering.KeyTransfer;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.HeapReservation;
import io.varve.server.command.key.KeyCommands;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.KeyFinder;
import io.varve.server.events.KeyEvent;
import io.varve.server.keys.HeapKey;
import io.varve.server.resp.NoBufferException;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * MIGRATE: moves keys to another server. Immutable: static handlers.
 *
 * <p>The client waits while a {@link KeyTransfer} sends the values, and no key is locked meanwhile. Then the command
 * runs again under the locks of its keys. It deletes a key that still has the value that was sent. It sends a key again
 * that has changed. It has a key deleted there that was deleted here.
 */
final class MigrateCommand {
    private static final int KEY = 3;
    private static final int FIRST_OPTION = 6;
    private static final int DEFAULT_TIMEOUT_MILLIS = 1000;
    /** Transfers of a key that changes all the time, before the command gives up. */
    private static final int MAX_TRANSFERS = 32;
    /** Heap bytes of a key that is sent, beside its bytes. */
    private static final long KEY_HEAP_BYTES = 256;

    private MigrateCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(KeyCommands.keys("migrate", -6, "2.6.0", "Moves keys to another server").key(KEY)
                .access("RW access delete").keysBehind("KEYS", -2, "RW access delete incomplete")
                .keyFinder(MigrateCommand::findKeys).flags(WRITE).categories("@dangerous")
                .tips("nondeterministic_output").traits(CommandTrait.TRANSFERS_KEYS)
                .secrets(MigrateCommand::isSecret)
                .complexity("O(N) where N is the size of the values, twice: here and on the other server")
                .handler(MigrateCommand::migrate));
    }

    private static void findKeys(Arguments arguments, KeyFinder.KeyIndexes keys) {
        if (arguments.argumentLength(KEY) == 0) {
            int count = arguments.argumentCount();
            for (int i = FIRST_OPTION; i < count; i += 1 + operands(arguments, i)) {
                if (arguments.argumentIs(i, "KEYS")) {
                    for (int key = i + 1; key < count; key++) {
                        keys.add(key);
                    }
                    return;
                }
            }
        }
        keys.add(KEY);
    }

    private static int operands(Arguments arguments, int option) {
        if (arguments.argumentIs(option, "AUTH2")) {
            return 2;
        }
        return arguments.argumentIs(option, "AUTH") ? 1 : 0;
    }

    /** The user and the password. */
    private static boolean isSecret(Arguments arguments, int index) {
        for (int i = FIRST_OPTION; i < index; i += 1 + operands(arguments, i)) {
            if (index <= i + operands(arguments, i)) {
                return true;
            }
        }
        return false;
    }

    /** The arguments of a MIGRATE. Confined to one command. */
    private static final class Request {
        private boolean copies;
        private boolean replaces;
        private final List<byte[]> login = new ArrayList<>();
        private int timeoutMillis;
        private int database;
        private int port;

        /** @return null after an error was replied */
        static @Nullable Request read(CommandContext context) {
            Request request = new Request();
            int count = context.argumentCount();
            for (int i = FIRST_OPTION; i < count; i++) {
                int operands = operands(context, i);
                if (i + operands >= count) {
                    context.syntaxError();
                    return null;
                }
                if (context.argumentIs(i, "COPY")) {
                    request.copies = true;
                } else if (context.argumentIs(i, "REPLACE")) {
                    request.replaces = true;
                } else if (operands > 0) {
                    request.login.clear();
                    for (int word = i + 1; word <= i + operands; word++) {
                        request.login.add(context.argumentBytes(word));
                    }
                    i += operands;
                } else if (context.argumentIs(i, "KEYS")) {
                    if (context.argumentLength(KEY) != 0) {
                        context.reply().error("ERR When using MIGRATE KEYS option, the key argument must be set to"
                                + " the empty string");
                        return null;
                    }
                    break;
                } else {
                    context.syntaxError();
                    return null;
                }
            }
            return request.readNumbers(context) ? request : null;
        }

        private boolean readNumbers(CommandContext context) {
            if (!context.requireLong(5)) {
                return false;
            }
            long timeout = context.longValue();
            timeoutMillis = timeout <= 0 ? DEFAULT_TIMEOUT_MILLIS : (int) Math.min(timeout, Integer.MAX_VALUE);
            if (!context.requireLong(4)) {
                return false;
            }
            database = Math.clamp(context.longValue(), Integer.MIN_VALUE, Integer.MAX_VALUE);
            // As in Redis, where atoi reads it.
            port = context.isLong(2) ? Math.clamp(context.longValue(), 0, 0xFFFF) : 0;
            return true;
        }

        KeyTransfer.Target target(CommandContext context) {
            return new KeyTransfer.Target(context.argumentString(1), port, timeoutMillis, database, login,
                    context.server().cluster() == null ? "RESTORE" : "RESTORE-ASKING");
        }
    }

    private static void migrate(CommandContext context) {
        Request request = Request.read(context);
        if (request == null) {
            return;
        }
        if (context.isInTransaction()) {
            context.reply().error("ERR MIGRATE is not allowed in a transaction");
            return;
        }
        KeyTransfer transfer = context.client().waitState().takeTransfer();
        if (transfer == null) {
            begin(context, request);
        } else {
            finish(context, request, transfer);
        }
    }

    private static void begin(CommandContext context, Request request) {
        HeapReservation reservation = new HeapReservation(context.server().argumentMemory());
        List<KeyTransfer.Sent> keys = new ArrayList<>();
        Set<HeapKey> names = new HashSet<>();
        for (int i = 0; i < context.keyCount(); i++) {
            Key key = context.keyAt(i);
            boolean found = context.session().findForWriting(key, context.item());
            // A key that is named twice is sent once.
            if (found && names.add(HeapKey.of(key.database(), key.address(), key.length()))
                    && !add(context, i, keys, reservation)) {
                return;
            }
        }
        if (keys.isEmpty()) {
            context.reply().simple("NOKEY");
        } else {
            transfer(context, request, keys, request.replaces, reservation);
        }
    }

    /** Adds the found key as it is now. @return false after an error was replied */
    private static boolean add(CommandContext context, int index, List<KeyTransfer.Sent> keys,
            HeapReservation reservation) {
        Key key = context.keyAt(index);
        Item item = context.item();
        DumpWriter writer = DumpWriter.of(context);
        try {
            byte[] payload = reservation.tryReserve(KEY_HEAP_BYTES + key.length())
                    ? writer.bytes(context, key, item, reservation)
                    : null;
            if (payload == null) {
                reservation.end();
                context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
                return false;
            }
            keys.add(new KeyTransfer.Sent(index, Memory.toArray(key.address(), key.length()), payload,
                    expireAtMillis(item)));
            return true;
        } catch (CacheFullException | NoBufferException none) {
            reservation.end();
            throw none;
        } finally {
            writer.release();
        }
    }

    private static long expireAtMillis(Item item) {
        return item.expireAtMillis() == Item.NEVER ? 0 : item.expireAtMillis();
    }

    private static void transfer(CommandContext context, Request request, List<KeyTransfer.Sent> keys,
            boolean replaces, HeapReservation reservation) {
        KeyTransfer transfer = new KeyTransfer(request.target(context), keys, replaces);
        context.client().waitState().transfer(transfer);
        ParkedCommand wait = ParkedCommand.silent();
        wait.onFinish(() -> {
            transfer.cancel();
            reservation.end();
        });
        context.retryAfter(wait);
        transfer.start(context.now(), wait::resume);
    }

    private static void finish(CommandContext context, Request request, KeyTransfer transfer) {
        HeapReservation reservation = new HeapReservation(context.server().argumentMemory());
        List<KeyTransfer.Sent> same = new ArrayList<>();
        List<KeyTransfer.Sent> again = new ArrayList<>();
        String error = transfer.failure();
        try {
            for (int i = 0; i < transfer.keys().size(); i++) {
                if (!transfer.isStored(i)) {
                    error = error == null ? "ERR Target instance replied with error: " + transfer.error(i) : error;
                } else if (!request.copies && !compare(context, transfer.keys().get(i), same, again, reservation)) {
                    return;
                }
            }
        } catch (CacheFullException full) {
            // No key has been deleted. The command runs again, with the answers that it has.
            reservation.end();
            context.client().waitState().transfer(transfer);
            throw full;
        }
        same.forEach(key -> delete(context, context.keyAt(key.index())));
        if (!again.isEmpty() && context.client().waitState().transfers() >= MAX_TRANSFERS) {
            error = "ERR a key has changed during each of " + MAX_TRANSFERS + " transfers: both servers have it";
        }
        if (error == null && !again.isEmpty()) {
            // The value there is an older one of this server.
            transfer(context, request, again, true, reservation);
            return;
        }
        reservation.end();
        if (error == null) {
            context.reply().ok();
        } else {
            context.reply().error(error);
        }
    }

    /**
     * Compares a key that the other server has with what was sent: it is the same, or it is to be sent again.
     *
     * @return false after an error was replied
     */
    private static boolean compare(CommandContext context, KeyTransfer.Sent sent, List<KeyTransfer.Sent> same,
            List<KeyTransfer.Sent> again, HeapReservation reservation) {
        Key key = context.keyAt(sent.index());
        Item item = context.item();
        byte[] payload = sent.payload();
        if (!context.session().findForWriting(key, item)) {
            if (payload != null) {
                again.add(new KeyTransfer.Sent(sent.index(), sent.name(), null, 0));
            }
            return true;
        }
        if (payload == null || expireAtMillis(item) != sent.expireAtMillis()
                || !matches(context, key, item, payload)) {
            return add(context, sent.index(), again, reservation);
        }
        same.add(sent);
        return true;
    }

    private static void delete(CommandContext context, Key key) {
        context.session().delete(key);
        context.events().emit(KeyEvent.DEL, key);
        context.countChanges(1);
        context.recordDeletion(key);
    }

    private static boolean matches(CommandContext context, Key key, Item item, byte[] payload) {
        DumpWriter writer = DumpWriter.of(context);
        try {
            return writer.matches(context, key, item, payload);
        } finally {
            writer.release();
        }
    }
}
