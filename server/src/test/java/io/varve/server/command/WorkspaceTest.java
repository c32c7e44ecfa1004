package io.varve.server.command;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What families work with while their commands run. Confined to the test's thread. */
class WorkspaceTest {
    private final ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2");
    private final Cache cache = Cache.open(config.cacheConfig());
    private final ServerContext server = new ServerContext(cache, config, config.cacheConfig().ticker(), _ -> {});

    @AfterEach
    void close() {
        cache.close();
    }

    private Invocation invocation() {
        return new Invocation(cache, cache.newSession(), server, null, null, server.newLoop(1));
    }

    @Test
    void eachInvocationHasItsOwnWhichIsMadeOnce() {
        List<Invocation> madeFor = new ArrayList<>();
        Workspace<StringBuilder> workspace = Workspace.madeBy(call -> {
            madeFor.add(call);
            return new StringBuilder();
        });
        Invocation one = invocation();
        Invocation other = invocation();
        assertThat(madeFor).isEmpty();
        workspace.of(one).append("one");
        workspace.of(other).append("other");
        assertThat(workspace.of(one)).hasToString("one");
        assertThat(workspace.of(other)).hasToString("other");
        assertThat(madeFor).containsExactly(one, other);
    }

    @Test
    void thereMayBeManyInAnyOrder() {
        List<Workspace<List<Integer>>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            all.add(Workspace.madeBy(_ -> List.of(number)));
        }
        Invocation call = invocation();
        for (int i = 99; i >= 0; i--) {
            assertThat(all.get(i).of(call)).containsExactly(i);
        }
        for (int i = 0; i < 100; i++) {
            assertThat(all.get(i).of(call)).containsExactly(i);
        }
    }
}
