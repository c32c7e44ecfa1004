package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.ControlledDisk;
import io.varve.server.persistence.ControlledDisk.Operation;
import io.varve.server.persistence.ReplayClock;

/**
 * A process with a server whose disk cannot force any more after a byte was sent to its standard input. Confined to its
 * main thread.
 */
public final class FailingForceServer {
    private FailingForceServer() {}

    /** From how the launcher starts a server to how this is started. */
    public static List<String> commandLine(List<String> launcher) {
        List<String> command = new ArrayList<>(launcher);
        command.replaceAll(word -> word.equals(Main.class.getName()) ? FailingForceServer.class.getName() : word);
        return command;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        ServerConfig config = ConfigReader.read(List.of(arguments));
        Cache cache = Cache.open(
                config.cacheConfig().withTicker(new ReplayClock(config.cacheConfig().ticker())));
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
}
