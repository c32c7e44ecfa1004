/**
 * The YCSB binding over the wire: {@link io.varve.ycsb.VarveClient} runs inside the stock {@code site.ycsb.Client}
 * against any server that speaks the Redis protocol, and gives each written record a TTL. {@link
 * io.varve.ycsb.CacheAsideClient} puts that server in front of two databases.
 *
 * <p>Lives here: the translation of YCSB's operations into commands and statements, and its properties. Must not live
 * here: anything that needs a JDK newer than 17, the server, the memory tier, or the execution and recording of
 * experiments.
 */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb;
