package io.varve.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.persistence.ControlledDisk;
import io.varve.server.persistence.ControlledDisk.Operation;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.jspecify.annotations.Nullable;

/**
 * A server whose log is on a disk that a test controls, and its clients; in the test's process, or in one of its own.
 * Confined to the test's thread.
 */
public final class ServerOnDisk implements AutoCloseable {
    private final ControlledDisk disk;
    private final AtomicReference<String> fatal = new AtomicReference<>();
    private final Deque<RawClient> clients = new ArrayDeque<>();
    private final VarveServer server;
    private @Nullable AppendLog log;
    private @Nullable ChangeStream stream;

    private ServerOnDisk(ServerConfig config, ControlledDisk disk, Ticker ticker) throws IOException {
        this.disk = disk;
        // With flash the clock is the machine's.
        Tiers tiers = config.flashDirectory().isPresent()
                ? Tiers.open(config)
                : new Tiers(Cache.open(config.cacheConfig().withTicker(new ReplayClock(ticker))), null);
        server = VarveServer.start(config, tiers, (changes, clock, _) -> {
            AppendLog created = disk.logs(fatal::set).create(changes, clock, _ -> {});
            log = created;
            stream = changes;
            return created;
        });
    }

    /** A server with {@code appendfsync always}, one event loop, and these settings. */
    public static ServerOnDisk start(Path directory, String... settings) throws IOException {
        return start(directory, new ControlledDisk(), Ticker.system(), settings);
    }

    /** As {@link #start(Path, String...)}, with a disk and a clock. */
    public static ServerOnDisk start(Path directory, ControlledDisk disk, Ticker ticker, String... settings)
            throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards 4", "io-threads 1", "appendonly yes",
                "appendfsync always", "dir " + directory);
        for (String setting : List.of(settings)) {
            String[] words = setting.split(" ", 2);
            config = config.with(words[0], words[1]);
        }
        return new ServerOnDisk(config.validate(), disk, ticker);
    }

    /** From how the launcher starts a server to how {@link #main} is started. */
    public static List<String> commandLine(List<String> launcher) {
        List<String> command = new ArrayList<>(launcher);
        command.replaceAll(word -> word.equals(Main.class.getName()) ? ServerOnDisk.class.getName() : word);
        return command;
    }

    /** A process whose disk cannot force any more after a byte was sent to its standard input. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        ServerConfig config = ConfigReader.read(List.of(arguments));
        Cache cache = Cache.open(config.cacheConfig().withTicker(new ReplayClock(config.cacheConfig().ticker())));
        ControlledDisk disk = new ControlledDisk();
        try (VarveServer server = VarveServer.start(config, new Tiers(cache, null), disk.logs())) {
            System.out.println("port " + server.port() + "\nReady to accept connections");
            System.out.flush();
            if (System.in.read() >= 0) {
                disk.fail(Operation.FORCE, "Input/output error");
                server.awaitShutdown();
            }
        }
    }

    public ControlledDisk disk() {
        return disk;
    }

    public VarveServer server() {
        return server;
    }

    public AppendLog log() {
        return java.util.Objects.requireNonNull(log);
    }

    public ChangeStream stream() {
        return java.util.Objects.requireNonNull(stream);
    }

    /** Why the process would have ended; null if it would not. */
    public @Nullable String fatal() {
        return fatal.get();
    }

    /** A client, which is closed with the server. */
    public RawClient connect() throws IOException {
        RawClient client = new RawClient(server.port());
        clients.addLast(client);
        return client;
    }

    /** Releases and repairs the disk, and closes clients and server. */
    @Override
    public void close() throws IOException {
        disk.repair();
        disk.release();
        while (!clients.isEmpty()) {
            clients.removeLast().close();
        }
        server.close();
    }
}
