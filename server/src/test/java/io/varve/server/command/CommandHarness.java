package io.varve.server.command;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.memory.Cache;
import io.varve.memory.offheap.Memory;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.dispatch.Dispatcher;
import io.varve.server.command.dispatch.EventLoopExecutor;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.testing.SettableTicker;
import io.varve.server.testing.StubConnection;

/**
 * A dispatcher with its own cache, without a network: commands in, replies out, at a time that the test sets. Confined
 * to the test's thread.
 */
public final class CommandHarness implements AutoCloseable {
    private static final int NATIVE_BYTES = 4 << 20;

    /** The driver of a fuzz target may close it on another thread. */
    private final Arena arena = Arena.ofShared();
    private final long memory = arena.allocate(NATIVE_BYTES).address();
    private final SettableTicker clock;
    private final Cache cache;
    private final ServerState server;
    private final CommandTable table;
    private final Dispatcher dispatcher;
    private final Client client;
    private final ReplyWriter reply;
    private final Batch batch = new Batch();
    private final Loop loop = new Loop();
    private long memoryAt = memory;

    public CommandHarness(ServerConfig config) {
        this(config, "127.0.0.1:1");
    }

    public CommandHarness(ServerConfig config, String clientAddress) {
        this(config, clientAddress, CommandFamilies::table);
    }

    /** @param commands makes the table of commands */
    CommandHarness(ServerConfig config, String clientAddress, Function<ServerState, CommandTable> commands) {
        this(config, clientAddress, commands, UnpooledByteBufAllocator.DEFAULT, new SettableTicker(), () -> {});
    }

    /** @param duringScripts called at intervals while a script takes long by this clock */
    public CommandHarness(ServerConfig config, SettableTicker clock, Runnable duringScripts) {
        this(config, "127.0.0.1:1", CommandFamilies::table, UnpooledByteBufAllocator.DEFAULT, clock, duringScripts);
    }

    /** @param replies where buffers for replies come from */
    public CommandHarness(ServerConfig config, ByteBufAllocator replies) {
        this(config, "127.0.0.1:1", CommandFamilies::table, replies, new SettableTicker(), () -> {});
    }

    private CommandHarness(ServerConfig config, String clientAddress, Function<ServerState, CommandTable> commands,
            ByteBufAllocator replies, SettableTicker clock, Runnable duringScripts) {
        this.clock = clock;
        reply = new ReplyWriter(replies, RequestHeapBudget.ofHeapBeside(0));
        cache = Cache.open(config.cacheConfig().withTicker(clock));
        server = new ServerState(cache, config, clock, _ -> {});
        table = commands.apply(server);
        dispatcher = new Dispatcher(server, table, loop, duringScripts);
        client = server.lifecycle().connect(new StubConnection(), clientAddress, "127.0.0.1:2");
    }

    public CommandHarness() {
        this(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4"));
    }

    public Cache cache() {
        return cache;
    }

    /** The client whose commands run. */
    public Client client() {
        return client;
    }

    /** The server's state, which the caller closes if the server is a member of a cluster. */
    public ServerState server() {
        return server;
    }

    public BlockedKeys blockedKeys() {
        return server.blockedKeys();
    }

    public CommandTable table() {
        return table;
    }

    public long now() {
        return clock.wallMillis();
    }

    public void sleep(long millis) {
        clock.pass(millis);
    }

    /** Runs a command, its words separated by blanks, and answers the bytes of its reply. */
    public String run(String command) {
        return run(command.split(" "));
    }

    public String run(String... arguments) {
        begin();
        add(arguments);
        execute();
        return text(takeReply());
    }

    /** Runs a command as another client, which is connected for it. */
    public String runByAnother(String... arguments) {
        Client another = server.lifecycle().connect(new StubConnection(), "127.0.0.1:3", "127.0.0.1:2");
        begin();
        add(arguments);
        execute(another);
        return text(takeReply());
    }

    /** Runs a command and leaves its reply unread, as a client does that is slow. */
    public List<ByteBuf> runUnread(String... arguments) {
        begin();
        add(arguments);
        execute();
        return takeReply();
    }

    // --- by hand, for what is repeated without an allocation of the test's own

    public void begin() {
        loop.run();
        batch.clear();
        memoryAt = memory;
    }

    /** Writes a command's arguments into native memory and adds it to the batch. */
    public void add(String... arguments) {
        batch.beginRequest(arguments.length);
        for (String argument : arguments) {
            byte[] bytes = argument.getBytes(StandardCharsets.ISO_8859_1);
            if (memoryAt + bytes.length > memory + NATIVE_BYTES) {
                throw new IllegalArgumentException("The harness has no room for " + bytes.length + " bytes");
            }
            Memory.copy(bytes, 0, memoryAt, bytes.length);
            batch.argument(memoryAt, bytes.length);
            memoryAt += bytes.length;
        }
        batch.endRequest(io.varve.server.resp.Shortage.NONE);
    }

    /** Prepares and runs the whole batch. */
    public void execute() {
        execute(client);
    }

    private void execute(Client who) {
        dispatcher.prepare(batch, who);
        int next = 0;
        while (next < batch.commandCount()) {
            next = dispatcher.run(batch, next, who, reply);
            ParkedCommand waits = dispatcher.takeParkedCommand();
            if (waits != null) {
                waits.finish();
                loop.run();
            }
        }
    }

    /** Runs commands in one batch, as those of a pipeline, and answers the bytes of their replies. */
    public String runBatch(List<String[]> commands) {
        begin();
        for (String[] command : commands) {
            add(command);
        }
        execute();
        return text(takeReply());
    }

    /** The batch as it is before its first command runs. */
    public Batch prepare() {
        dispatcher.prepare(batch, client);
        return batch;
    }

    /** Runs a command once, which may have to wait; whether it does. */
    public boolean isDelayed(String... arguments) {
        begin();
        add(arguments);
        dispatcher.prepare(batch, client);
        dispatcher.run(batch, 0, client, reply);
        return dispatcher.takeParkedCommand() != null;
    }

    /** Takes back all that was replied; the buffer stays. */
    public void dropReply() {
        reply.rollback(0);
    }

    public long errors() {
        return reply.errors();
    }

    List<ByteBuf> takeReply() {
        List<ByteBuf> pieces = new ArrayList<>();
        reply.take(pieces::add);
        return pieces;
    }

    /** The bytes of a reply, which is released. */
    public static String text(List<ByteBuf> pieces) {
        StringBuilder text = new StringBuilder();
        for (ByteBuf piece : pieces) {
            text.append(piece.toString(StandardCharsets.ISO_8859_1));
            piece.release();
        }
        return text.toString();
    }

    @Override
    public void close() {
        dispatcher.close();
        reply.close();
        batch.clear();
        cache.close();
        arena.close();
    }

    /** An event loop whose tasks run between commands. Thread-safe: a concurrent queue. */
    private static final class Loop implements EventLoopExecutor {
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void schedule(Runnable task, long millis) {
            tasks.add(task);
        }

        /** Those that are there now: they may leave others. */
        void run() {
            for (int i = tasks.size(); i > 0; i--) {
                tasks.remove().run();
            }
        }
    }
}
