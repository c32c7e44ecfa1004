package io.varve.server.command.introspection;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.persistence.DatasetDigest;
import io.varve.server.command.persistence.PersistenceCommands;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.command.value.Encodings;
import io.varve.server.config.MemoryUnits;
import io.varve.server.resp.ReplyWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.STALE;

/**
 * DEBUG: the subcommands of Redis that its own test suite calls, and that make sense here. The others are known, and
 * reply an error. Immutable.
 */
public final class DebugCommands {
    private static final Logger LOG = LoggerFactory.getLogger(DebugCommands.class);

    /** Subcommands of Redis about internals that Varve does not have, or that end or damage the process. */
    private static final List<String> REFUSED = List.of("aof-flush-sleep", "assert", "client-eviction", "clusterlink",
            "config-rewrite-force-all", "crash-and-recover", "drop-cluster-packet-filter", "htstats", "htstats-key",
            "jmap", "leak", "mallctl", "mallctl-str", "oom", "panic", "quicklist", "replybuffer", "restart", "sdslen",
            "segfault", "set-disable-deny-scripts", "set-skip-checksum-validation", "stringmatch-test", "structsize");
    /** The bits of the access clock in Redis, in seconds. */
    private static final long LRU_CLOCK_MASK = (1 << 24) - 1;
    private static final long LARGEST_PACKED_THRESHOLD = (1L << 32) - (1 << 20);
    private static final int MAX_POPULATED_BYTES = 16 << 20;

    private final ServerState server;

    public DebugCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        CommandBuilder debug = CommandBuilder.named("debug").arity(-2).group("server")
                .flags(ADMIN, NOSCRIPT, LOADING, STALE)
                .traits(CommandTrait.DEBUG_ONLY).complexity("Depends on subcommand.")
                .summary("A container for debugging commands")
                .subcommand(debug("sleep", 3, "Stops the connection's event loop for a time")
                        .handler(DebugCommands::sleep))
                .subcommand(debug("object", 3, "Returns internal information about a key's value").key(2).access("RO")
                        .handler(DebugCommands::object))
                .subcommand(debug("listpack", 3, "Returns the size of a value with the listpack encoding").key(2)
                        .access("RO").handler(DebugCommands::listpack))
                .subcommand(debug("digest-value", -2, "Returns digests of the values of keys").keys(2, -1, 1)
                        .access("RO").handler(DebugCommands::digestValues))
                .subcommand(debug("populate", -3, "Creates string keys").traits(CommandTrait.ALL_OR_NOTHING)
                        .handler(DebugCommands::populate))
                .subcommand(debug("set-active-expire", 3, "Enables or disables expiry in the background")
                        .handler(this::setActiveExpire))
                .subcommand(debug("loadaof", 2, "Loads the append-only log in place of all data")
                        .handler(this::loadLog))
                .subcommand(debug("change-repl-id", 2, "Changes the replication ID").handler(this::changeId))
                .subcommand(debug("replicate", -3, "Sends a command to the replicas only").handler(this::replicate))
                .subcommand(debug("protocol", 3, "Replies a test value of a type").handler(DebugCommands::protocol))
                .subcommand(debug("error", 3, "Replies an error with a text")
                        .handler(context -> context.reply().errorOfBytes(text(context, 2))))
                .subcommand(debug("log", 3, "Writes a message to the log").handler(DebugCommands::log))
                .subcommand(debug("stringmatch-len", 4, "Matches a string with a glob pattern")
                        .handler(DebugCommands::match))
                .subcommand(debug("quicklist-packed-threshold", 3, "Has no effect").handler(DebugCommands::threshold))
                .subcommand(debug("pause-cron", 3, "Has no effect").handler(DebugCommands::pauseCron))
                .subcommand(debug("help", 2, "Returns helpful text about the subcommands")
                        .handler(context -> DebugHelp.reply(context.reply())));
        for (String name : REFUSED) {
            debug.subcommand(debug(name, -2, "Is refused").handler(DebugCommands::refuse));
        }
        new PersistenceCommands(server).debug(debug);
        table.add(debug);
    }

    private static CommandBuilder debug(String name, int arity, String summary) {
        return CommandBuilder.named(name).arity(arity).group("server").flags(ADMIN, NOSCRIPT, LOADING, STALE)
                .traits(CommandTrait.DEBUG_ONLY).summary(summary);
    }

    private static void refuse(CommandContext context) {
        context.reply().error("ERR DEBUG " + context.argumentString(1).toUpperCase(java.util.Locale.ROOT)
                + " is not supported: it is about internals of Redis that Varve does not have, or harms the process");
    }

    private static String text(CommandContext context, int argument) {
        return new String(context.argumentBytes(argument), StandardCharsets.ISO_8859_1);
    }

    // --- time

    private static void sleep(CommandContext context) {
        if (!context.requireDouble(2)) {
            return;
        }
        long end = System.nanoTime() + (long) (context.doubleValue() * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        context.reply().ok();
    }

    private void setActiveExpire(CommandContext context) {
        if (context.requireLong(2)) {
            server.activeExpire(context.longValue() != 0);
            context.reply().ok();
        }
    }

    // --- values

    private static void object(CommandContext context) {
        Key key = context.key(2);
        Item item = context.item();
        CacheSession session = context.session();
        if (!session.peek(key, item)) {
            context.reply().error(ObjectCommands.NO_SUCH_KEY);
            return;
        }
        long idleSeconds = TimeUnit.MILLISECONDS.toSeconds(Math.max(0, session.idleMillis(item)));
        long clock = TimeUnit.MILLISECONDS.toSeconds(context.now()) - idleSeconds & LRU_CLOCK_MASK;
        context.reply().simple("Value at:0x" + Long.toHexString(item.valueAddress()) + " refcount:1 encoding:"
                + ObjectCommands.encodingOf(context, key, item) + " serializedlength:"
                + DatasetDigest.serializedBytes(context, key, item) + " lru:" + clock + " lru_seconds_idle:"
                + idleSeconds + (session.isPinned(item) ? " pinned:1" : "")
                + (item.type() == ItemType.STRING ? "" : " type:" + item.type().redisName()));
    }

    private static void listpack(CommandContext context) {
        Key key = context.key(2);
        Item item = context.item();
        if (!context.session().peek(key, item)) {
            context.reply().error(ObjectCommands.NO_SUCH_KEY);
        } else if (!ObjectCommands.encodingOf(context, key, item).startsWith("listpack")) {
            context.reply().error("ERR Not a listpack encoded object.");
        } else {
            context.reply().simple("Varve's own packed form takes " + item.valueLength()
                    + " bytes, and nothing was printed on stdout");
        }
    }

    private static void digestValues(CommandContext context) {
        context.reply().array(context.keyCount());
        for (int i = 0; i < context.keyCount(); i++) {
            Item item = context.item();
            boolean there = context.session().peek(context.keyAt(i), item);
            context.reply().simple(DatasetDigest.ofValue(context, context.keyAt(i), there ? item : null));
        }
    }

    /** Replicas and the log do not receive the keys, as in Redis. */
    private static void populate(CommandContext context) {
        if (context.argumentCount() > 5) {
            context.reply()
                    .error("ERR unknown subcommand or wrong number of arguments for 'populate'. Try DEBUG HELP.");
            return;
        }
        if (!requireCount(context, 2)) {
            return;
        }
        long count = context.longValue();
        byte[] prefix = context.argumentCount() > 3
                ? context.argumentBytes(3)
                : "key".getBytes(StandardCharsets.US_ASCII);
        int size = 0;
        if (context.argumentCount() > 4) {
            if (!requireCount(context, 4)) {
                return;
            }
            if (context.longValue() > MAX_POPULATED_BYTES) {
                context.reply().error("ERR DEBUG POPULATE makes values of up to " + MAX_POPULATED_BYTES + " bytes");
                return;
            }
            size = (int) context.longValue();
        }
        String start = new String(prefix, StandardCharsets.ISO_8859_1) + ":";
        for (long i = 0; i < count; i++) {
            add(context, (start + i).getBytes(StandardCharsets.ISO_8859_1), value(i, size));
        }
        context.reply().ok();
    }

    /** Whether an argument is a number that is not negative; else the error was replied. */
    private static boolean requireCount(CommandContext context, int argument) {
        if (context.isLong(argument) && context.longValue() >= 0) {
            return true;
        }
        context.reply().error("ERR value is out of range, must be positive");
        return false;
    }

    /** @param size 0: that of the text */
    private static byte[] value(long number, int size) {
        byte[] text = ("value:" + number).getBytes(StandardCharsets.US_ASCII);
        return size == 0 ? text : java.util.Arrays.copyOf(text, size);
    }

    private static void add(CommandContext context, byte[] name, byte[] value) {
        CacheSession session = context.session();
        byte[] both = new byte[name.length + value.length];
        System.arraycopy(name, 0, both, 0, name.length);
        System.arraycopy(value, 0, both, name.length, value.length);
        long address = context.scratch(both);
        Key key = new Key();
        session.bind(key, context.client().database(), address, name.length);
        // A transaction holds all shards.
        boolean isHeld = session.isLockedByMe(key);
        if (!isHeld) {
            session.lock(key);
        }
        try {
            if (!session.peek(key, context.item())) {
                session.set(key, ItemType.STRING, Encodings.STRING_BY_CONTENT, address + name.length, value.length,
                        Item.NEVER);
            }
        } finally {
            if (!isHeld) {
                session.unlock(key);
            }
        }
    }

    // --- log and replicas

    /** Other clients get LOADING meanwhile. */
    private void loadLog(CommandContext context) {
        if (context.isInTransaction()) {
            context.reply().error("ERR DEBUG LOADAOF is not allowed in transactions");
            return;
        }
        String obstacle = server.role().isReplica()
                ? "at a replica"
                : server.replicas().isActive()
                        ? "while there are replicas or a backlog for them"
                        : server.flash() != null
                                ? "with flash-dir"
                                : !server.config().bool("appendonly") ? "without appendonly yes" : null;
        if (obstacle != null) {
            context.reply().error("ERR DEBUG LOADAOF is not possible " + obstacle);
            return;
        }
        ParkedCommand waiting = context.park(0, _ -> {});
        boolean begun = server.snapshots().start(false, server.logReload(),
                failure -> waiting.answer(failure == null
                        ? ReplyWriter::ok
                        : reply -> reply.error("ERR Error trying to load the append-only log: " + failure)));
        if (!begun) {
            waiting.answer(reply -> reply.error("ERR Background save already in progress"));
        }
    }

    private void changeId(CommandContext context) {
        if (server.role().isReplica()) {
            context.reply().error("ERR DEBUG CHANGE-REPL-ID is not possible at a replica, which has its primary's ID");
            return;
        }
        server.replicas().renewId();
        context.reply().ok();
    }

    private void replicate(CommandContext context) {
        StringBuilder command = new StringBuilder("*" + (context.argumentCount() - 2) + "\r\n");
        for (int i = 2; i < context.argumentCount(); i++) {
            command.append('$').append(context.argumentLength(i)).append("\r\n").append(text(context, i))
                    .append("\r\n");
        }
        server.changes().copyOnly(command.toString().getBytes(StandardCharsets.ISO_8859_1));
        context.reply().ok();
    }

    // --- replies and texts

    private static void protocol(CommandContext context) {
        DebugHelp.replyOfType(context.reply(), context.argumentString(2));
    }

    private static void log(CommandContext context) {
        LOG.warn("DEBUG LOG: {}", context.argumentString(2));
        context.reply().ok();
    }

    private static void match(CommandContext context) {
        boolean matches = GlobPattern.matches(context.argumentAddress(2), context.argumentLength(2),
                context.argumentAddress(3), context.argumentLength(3));
        context.reply().integer(matches ? 1 : 0);
    }

    // --- without effect

    /** Varve's lists have no quicklist nodes. */
    private static void threshold(CommandContext context) {
        long bytes = MemoryUnits.parse(context.argumentString(2));
        if (bytes < 0 || bytes > LARGEST_PACKED_THRESHOLD) {
            context.reply().error("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
        } else {
            context.reply().ok();
        }
    }

    /** Varve's maintenance does not pause: its memory would grow. */
    private static void pauseCron(CommandContext context) {
        if (context.requireLong(2)) {
            context.reply().ok();
        }
    }
}
