package io.varve.server.training;

import java.io.IOException;

/**
 * The commands of a training run: those of all families, most often those that applications use most. Confined to one
 * thread.
 *
 * <p>Commands of redis-benchmark's default tests, and others that are as frequent, are sent {@code often} times each.
 * The other ones are sent rarely: the JVM then loads their classes, and their methods do not crowd the profiles.
 */
public final class TrainingWorkload {
    /** A command that is not frequent is sent this many times less often. */
    private static final int RARELY = 20;
    private static final String BLOCK_SECONDS = "5";

    private final TrainingClient client;
    private final TrainingClient other;
    private final TrainingCommands commands;
    private final int often;
    private final int rarely;

    /**
     * @param client the client that sends nearly all commands
     * @param other a client of one connection, which waits for the first one's messages and elements
     * @param pipeline number of commands that a connection sends at once
     * @param often number of requests of each frequent command
     */
    public TrainingWorkload(TrainingClient client, TrainingClient other, int pipeline, int often) {
        this.client = client;
        this.other = other;
        this.commands = new TrainingCommands(client, pipeline);
        this.often = often;
        this.rarely = Math.max(1, often / RARELY);
    }

    public void run() throws IOException {
        strings();
        bits();
        lists();
        hashes();
        sets();
        sortedSets();
        streams();
        scripts();
        places();
        keys();
        transactions();
        waits();
        channels();
        connections();
        reports();
        commands.send(1, "FLUSHDB", "FLUSHALL");
    }

    private void strings() throws IOException {
        commands.sendInline(often, "PING");
        commands.sendInline(rarely, "SET $key $value");
        commands.sendInline(rarely, "GET $key");
        commands.send(often, "PING");
        commands.send(often, "SET $key $short");
        commands.send(often, "GET $key");
        commands.send(often, "SET $key $value", "GET $key", "GET absent");
        commands.send(often, "SET $key $long", "GET $key");
        commands.send(often, "SET $key $value EX 100", "SETEX $key 100 $value");
        commands.send(often, "INCR counter", "INCR $counter");
        commands.send(often, "MSET $key $short $key $short $key $short $key $short $key $short $key $short $key $short"
                + " $key $short $key $short $key $short");
        commands.send(often, "MGET $key $key $key $key $key");
        commands.send(rarely, "SETNX $key $value", "SET $key $value NX", "SET $key $value XX GET", "GETSET $key $value",
                "SET $key $value KEEPTTL", "PSETEX $key 100000 $value", "GETEX $key EX 100", "GETDEL $key",
                "MSETNX $key $value $key $value", "APPEND $key $short", "SETRANGE $key 2 $short", "GETRANGE $key 0 5",
                "STRLEN $key", "DECR $counter", "INCRBY $counter 5", "DECRBY $counter 5", "INCRBYFLOAT float 1.5",
                "MSET one $value two $value", "LCS one two");
    }

    private void bits() throws IOException {
        commands.send(rarely, "SETBIT bits $number 1", "GETBIT bits $number", "BITCOUNT bits", "BITPOS bits 1",
                "BITOP OR result bits bits", "BITFIELD field SET u8 0 255 INCRBY u8 0 1", "BITFIELD_RO field GET u8 0",
                "PFADD log $member", "PFCOUNT log", "PFMERGE merged log");
    }

    private void lists() throws IOException {
        commands.send(often, "LPUSH mylist $value");
        commands.send(often, "RPUSH mylist $short");
        for (String last : new String[] {"99", "299", "499", "599"}) {
            commands.send(rarely, "LRANGE mylist 0 " + last);
        }
        commands.send(often, "LPOP mylist");
        commands.send(often, "RPOP mylist");
        commands.send(often, "RPUSH $list $value", "LRANGE $list 0 -1");
        commands.send(rarely, "LLEN $list", "LINDEX $list 0", "RPUSH $list one two three", "LPOS $list two",
                "LINSERT $list BEFORE two more", "LREM $list 1 two", "LTRIM $list 0 5", "LMOVE $list $list LEFT RIGHT",
                "RPOPLPUSH $list $list", "LPUSHX $list $value", "RPUSHX $list $value", "LMPOP 1 $list LEFT",
                "RPUSH numbers $number");
        commands.sendTogether(rarely, "RPUSH items $value", "LSET items 0 $value");
        commands.send(rarely, "SORT numbers LIMIT 0 10", "SORT items ALPHA LIMIT 0 10",
                "SORT numbers LIMIT 0 10 STORE sorted", "SORT_RO numbers LIMIT 0 10");
    }

    private void hashes() throws IOException {
        commands.send(often, "HSET myhash $member $short");
        commands.send(often, "HGET myhash $member");
        commands.send(often, "HSET $hash f $value g $value", "HGET $hash f", "HMGET $hash f g", "HGETALL $hash");
        commands.send(rarely, "HINCRBY $hash n 1", "HINCRBYFLOAT $hash x 1.5", "HEXISTS $hash f", "HLEN $hash",
                "HSTRLEN $hash f", "HKEYS $hash", "HVALS $hash", "HSETNX $hash h $value", "HRANDFIELD $hash 2",
                "HSCAN myhash 0", "HEXPIRE $hash 100 FIELDS 1 f", "HTTL $hash FIELDS 1 f", "HPERSIST $hash FIELDS 1 f",
                "HDEL $hash f", "HDEL myhash $member");
    }

    private void sets() throws IOException {
        commands.send(often, "SADD myset $member", "SISMEMBER myset $member");
        commands.send(often, "SADD $set $member", "SADD integers $number");
        commands.send(often, "SPOP myset", "SADD myset $member");
        commands.send(often, "SPOP nothing");
        commands.send(rarely, "SCARD $set", "SMEMBERS $set", "SMISMEMBER $set $member $member", "SRANDMEMBER $set",
                "SREM $set $member", "SMOVE $set $set $member", "SINTER $set $set", "SUNION $set $set",
                "SDIFF $set $set", "SINTERSTORE common $set $set", "SUNIONSTORE common $set $set",
                "SDIFFSTORE common $set $set", "SINTERCARD 2 $set $set", "SSCAN myset 0");
    }

    private void sortedSets() throws IOException {
        commands.send(often, "ZADD myzset $score $member", "ZSCORE myzset $member");
        commands.send(often, "ZADD $zset $score $member");
        commands.send(often, "ZPOPMIN myzset", "ZADD myzset 0 $member");
        commands.send(often, "ZPOPMIN nothing");
        commands.send(rarely, "ZRANK myzset $member", "ZREVRANK myzset $member", "ZRANGE myzset 0 9 WITHSCORES",
                "ZREVRANGE myzset 0 9", "ZRANGEBYSCORE myzset -inf +inf LIMIT 0 10",
                "ZREVRANGEBYSCORE myzset +inf -inf LIMIT 0 10", "ZRANGEBYLEX myzset - + LIMIT 0 10",
                "ZCOUNT myzset -inf 0", "ZLEXCOUNT myzset - +", "ZCARD $zset", "ZMSCORE $zset $member $member",
                "ZINCRBY myzset 1 $member", "ZREM myzset $member", "ZPOPMAX myzset", "ZRANDMEMBER myzset",
                "ZSCAN myzset 0", "ZRANGESTORE part myzset 0 9", "ZUNIONSTORE part 2 $zset $zset",
                "ZINTERSTORE part 2 $zset $zset", "ZDIFFSTORE part 2 $zset $zset", "ZUNION 2 $zset $zset",
                "ZINTER 2 $zset $zset", "ZDIFF 2 $zset $zset", "ZINTERCARD 2 $zset $zset", "ZMPOP 1 myzset MIN",
                "ZREMRANGEBYRANK $zset 5 9", "ZREMRANGEBYSCORE $zset 1 2", "ZREMRANGEBYLEX $zset (x (y");
    }

    private void streams() throws IOException {
        commands.send(often, "XADD mystream MAXLEN ~ 1000 * field $value other $short");
        commands.sendTogether(1, "XGROUP CREATE jobs workers 0 MKSTREAM");
        commands.send(rarely, "XADD jobs * job $value", "XREADGROUP GROUP workers one COUNT 1 STREAMS jobs >",
                "XACK jobs workers 0-1", "XPENDING jobs workers", "XLEN mystream", "XRANGE mystream - + COUNT 10",
                "XREVRANGE mystream + - COUNT 10", "XREAD COUNT 1 STREAMS mystream 0", "XDEL mystream 0-1",
                "XTRIM mystream MAXLEN 500", "XINFO STREAM mystream", "XAUTOCLAIM jobs workers two 0 0 COUNT 1");
    }

    private void scripts() throws IOException {
        commands.send(often, "EVAL $release 1 $key $value");
        commands.send(rarely, "EVAL $count 0");
    }

    private void places() throws IOException {
        commands.send(rarely, "GEOADD places $degrees $degrees $member", "GEOPOS places $member",
                "GEODIST places $member $member km", "GEOHASH places $member",
                "GEOSEARCH places FROMLONLAT 15 37 BYRADIUS 500 km ASC COUNT 10",
                "GEOSEARCHSTORE near places FROMLONLAT 15 37 BYBOX 500 500 km COUNT 10",
                "GEORADIUS places 15 37 500 km COUNT 10");
    }

    private void keys() throws IOException {
        commands.send(often, "EXISTS $key", "EXPIRE $key 100", "TTL $key");
        commands.send(rarely, "PEXPIRE $key 100000", "PTTL $key", "EXPIRETIME $key", "PERSIST $key", "TYPE $key",
                "TOUCH $key", "SCAN 0 COUNT 20", "KEYS nothing*", "RANDOMKEY", "UNLINK $key",
                "OBJECT ENCODING myhash", "MEMORY USAGE $hash");
        commands.sendTogether(rarely, "SET from $value", "RENAME from to", "COPY to copy REPLACE", "MOVE copy 1");
        String payload = client.call("DUMP", "myhash");
        for (int i = 0; i < rarely; i++) {
            client.queue("DUMP", "mylist" + i);
            client.queue("RESTORE", "restored", "0", payload, "REPLACE");
            client.flush();
        }
        client.finish();
        commands.send(often, "DEL $key");
    }

    private void transactions() throws IOException {
        commands.sendTogether(rarely, "MULTI", "SET $key $value", "GET $key", "EXEC");
        commands.sendTogether(rarely, "WATCH $key", "MULTI", "INCR counter", "EXEC");
        commands.sendTogether(rarely, "WATCH $key", "UNWATCH", "MULTI", "DISCARD");
    }

    /** Each element is there in time, so that no command waits for its whole timeout. */
    private void waits() throws IOException {
        for (int i = 0; i < rarely; i++) {
            other.queue("BLPOP", "queue", BLOCK_SECONDS);
            other.queue("BRPOP", "queue", BLOCK_SECONDS);
            other.queue("BLMOVE", "queue", "moved", "LEFT", "RIGHT", BLOCK_SECONDS);
            other.queue("BLMPOP", BLOCK_SECONDS, "1", "queue", "LEFT");
            other.queue("BZPOPMIN", "zqueue", BLOCK_SECONDS);
            other.flush();
            client.queue("RPUSH", "queue", "1", "2", "3", "4");
            client.queue("ZADD", "zqueue", "1", "one");
            client.finish();
            other.finish();
        }
    }

    private void channels() throws IOException {
        other.queue("SUBSCRIBE", "news");
        other.finish();
        commands.send(rarely, "PUBLISH news $value");
        other.receive(rarely);
        other.queue("UNSUBSCRIBE", "news");
        other.finish();
        commands.send(rarely, "PUBLISH nowhere $value", "SPUBLISH nowhere $value", "PUBSUB CHANNELS",
                "PUBSUB NUMSUB news");
        other.queue("HELLO", "3");
        other.queue("CLIENT", "TRACKING", "ON");
        for (int i = 0; i < rarely; i++) {
            other.queue("SET", "tracked", "1");
            other.queue("GET", "tracked");
            other.finish();
            commands.send(1, "SET tracked $value");
            other.receive(1);
        }
    }

    private void connections() throws IOException {
        commands.send(rarely, "ECHO $value", "SELECT 0", "CLIENT SETNAME trainer", "CLIENT GETNAME", "CLIENT ID",
                "CLIENT INFO", "CLIENT NO-EVICT off", "ACL WHOAMI", "ACL LIST", "ACL USERS", "ACL CAT",
                "ACL SETUSER trainer on >secret ~* &* +@all", "ACL GETUSER trainer");
        commands.sendTogether(rarely, "AUTH trainer secret", "AUTH default any");
        commands.send(1, "ACL DELUSER trainer");
    }

    /** Commands that monitoring tools send. */
    private void reports() throws IOException {
        commands.send(rarely, "DBSIZE", "TIME", "ROLE", "LASTSAVE", "SLOWLOG GET", "LATENCY LATEST", "COMMAND INFO get",
                "COMMAND COUNT", "CONFIG GET maxmemory", "CONFIG GET save");
        commands.send(Math.max(1, rarely / RARELY), "INFO", "INFO commandstats", "CONFIG GET *", "CLIENT LIST",
                "COMMAND", "COMMAND DOCS get", "LATENCY HISTOGRAM", "MEMORY STATS", "MEMORY DOCTOR", "ACL LOG",
                "CONFIG SET slowlog-max-len 128", "FUNCTION LIST", "SCRIPT EXISTS none", "VARVE.CLASS HELP",
                "SWAPDB 0 1", "SWAPDB 0 1");
    }
}
