package io.varve.server.command.dump;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

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
            database = (int) Math.clamp(context.longValue(), Integer.MIN_VALUE, Integer.MAX_VALUE);
            // As in Redis, where atoi reads it.
            port = context.isLong(2) ? (int) Math.clamp(context.longValue(), 0, 0xFFFF) : 0;
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
        List<KeyTransfer.Sent> keys = new ArrayList<>();
        for (int i = 0; i < context.keyCount(); i++) {
            if (context.session().findForWriting(context.keyAt(i), context.item())) {
                keys.add(sent(context, i));
            }
        }
        if (keys.isEmpty()) {
            context.reply().simple("NOKEY");
        } else {
            transfer(context, request, keys, request.replaces);
        }
    }

    /** The found key as it is now. */
    private static KeyTransfer.Sent sent(CommandContext context, int index) {
        Key key = context.keyAt(index);
        Item item = context.item();
        long expireAtMillis = item.expireAtMillis() == Item.NEVER ? 0 : item.expireAtMillis();
        DumpWriter writer = DumpWriter.of(context);
        try {
            return new KeyTransfer.Sent(index, Memory.toArray(key.address(), key.length()),
                    writer.bytes(context, key, item), expireAtMillis);
        } finally {
            writer.release();
        }
    }

    private static void transfer(CommandContext context, Request request, List<KeyTransfer.Sent> keys,
            boolean replaces) {
        HeapReservation reservation = new HeapReservation(context.server().argumentMemory());
        long bytes = 0;
        for (KeyTransfer.Sent key : keys) {
            byte[] payload = key.payload();
            bytes += KEY_HEAP_BYTES + key.name().length + (payload == null ? 0 : payload.length);
        }
        if (!reservation.tryReserve(bytes)) {
            context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return;
        }
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
        String error = transfer.failure();
        List<KeyTransfer.Sent> again = new ArrayList<>();
        for (int i = 0; i < transfer.keys().size(); i++) {
            KeyTransfer.Sent key = transfer.keys().get(i);
            if (transfer.isStored(i)) {
                if (!request.copies) {
                    deleteIfSame(context, key, again);
                }
            } else if (error == null) {
                error = "ERR Target instance replied with error: " + transfer.error(i);
            }
        }
        if (!again.isEmpty() && context.client().waitState().transfers() >= MAX_TRANSFERS) {
            error = "ERR a key has changed during each of " + MAX_TRANSFERS + " transfers: both servers have it";
        }
        if (error != null) {
            context.reply().error(error);
        } else if (again.isEmpty()) {
            context.reply().ok();
        } else {
            // The value there is an older one of this server.
            transfer(context, request, again, true);
        }
    }

    /** Deletes a key that the other server has, unless it has changed: it is then sent again. */
    private static void deleteIfSame(CommandContext context, KeyTransfer.Sent before, List<KeyTransfer.Sent> again) {
        Key key = context.keyAt(before.index());
        if (!context.session().findForWriting(key, context.item())) {
            if (before.payload() != null) {
                again.add(new KeyTransfer.Sent(before.index(), before.name(), null, 0));
            }
            return;
        }
        KeyTransfer.Sent now = sent(context, before.index());
        if (before.payload() != null && Arrays.equals(Objects.requireNonNull(now.payload()), before.payload())
                && now.expireAtMillis() == before.expireAtMillis()) {
            context.session().delete(key);
            context.events().emit(KeyEvent.DEL, key);
            context.countChanges(1);
            context.recordDeletion(key);
        } else {
            again.add(now);
        }
    }
}
