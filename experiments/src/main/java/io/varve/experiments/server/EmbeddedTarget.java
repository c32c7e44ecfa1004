package io.varve.experiments.server;

import java.io.IOException;
import java.util.Map;
import java.util.OptionalLong;

import io.varve.server.VarveServer;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;

/** A Varve server inside this process. Immutable; the thread that opened it closes it. */
final class EmbeddedTarget implements Target {
    private final VarveServer server;
    private final String startedBy;

    private EmbeddedTarget(VarveServer server, String startedBy) {
        this.server = server;
        this.startedBy = startedBy;
    }

    static EmbeddedTarget start(Map<String, String> settings, String maxmemory) throws IOException {
        StringBuilder startedBy = new StringBuilder(
                "inside the process of the experiment, like ./varve serve --maxmemory ")
                .append(maxmemory);
        ServerConfig config;
        try {
            config = ServerConfig.defaults().with("bind", "127.0.0.1").with("port", "0").with("maxmemory", maxmemory);
            for (Map.Entry<String, String> setting : settings.entrySet()) {
                config = config.with(setting.getKey(), setting.getValue());
                startedBy.append(" --").append(setting.getKey()).append(' ').append(setting.getValue());
            }
            config = config.validate();
        } catch (ConfigException e) {
            throw new IOException(e.getMessage(), e);
        }
        return new EmbeddedTarget(VarveServer.start(config), startedBy.toString());
    }

    @Override
    public String host() {
        return "127.0.0.1";
    }

    @Override
    public int port() {
        return server.port();
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.of(ProcessHandle.current().pid());
    }

    @Override
    public String startedBy() {
        return startedBy;
    }

    @Override
    public @Nullable String death() {
        return null;
    }

    @Override
    public void close() {
        server.close();
    }
}
