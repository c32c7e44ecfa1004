package io.varve.server.command;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.ChangeRecorder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Scratch objects that command families reuse. Confined to the test's thread. */
class CommandScratchTest {
    private final ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2");
    private final Cache cache = Cache.open(config.cacheConfig());
    private final ServerState server = new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {});

    @AfterEach
    void close() {
        cache.close();
    }

    private CommandContext invocation() {
        CacheSession session = cache.newSession();
        return new CommandContext(cache, session, server, null, null, server.telemetry().newLoop(1),
                new ChangeRecorder(server.changes(), session));
    }

    @Test
    void eachInvocationHasItsOwnWhichIsMadeOnce() {
        List<CommandContext> madeFor = new ArrayList<>();
        CommandScratch<StringBuilder> scratch = CommandScratch.madeBy(context -> {
            madeFor.add(context);
            return new StringBuilder();
        });
        CommandContext one = invocation();
        CommandContext other = invocation();
        assertThat(madeFor).isEmpty();
        scratch.of(one).append("one");
        scratch.of(other).append("other");
        assertThat(scratch.of(one)).hasToString("one");
        assertThat(scratch.of(other)).hasToString("other");
        assertThat(madeFor).containsExactly(one, other);
    }

    @Test
    void thereMayBeManyInAnyOrder() {
        List<CommandScratch<List<Integer>>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            all.add(CommandScratch.madeBy(_ -> List.of(number)));
        }
        CommandContext context = invocation();
        for (int i = 99; i >= 0; i--) {
            assertThat(all.get(i).of(context)).containsExactly(i);
        }
        for (int i = 0; i < 100; i++) {
            assertThat(all.get(i).of(context)).containsExactly(i);
        }
    }
}
