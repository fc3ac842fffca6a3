# The hierarchical models in brms, as the thesis writes them; run by bench_bayes.
# Rscript bayes_peer.R FAMILY IN.csv OUT.csv TIMES.csv CHAINS WARMUP DRAWS
arguments <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(brms))
# Debian keeps Boost's headers out of its R package
if (!nzchar(system.file("include", package = "BH"))) rstan::rstan_options(boost_lib = "/usr/include")
data <- read.csv(arguments[2])
family <- if (arguments[1] == "gaussian") gaussian() else zero_one_inflated_beta()
cpu <- function() { t <- proc.time(); sum(t[c("user.self", "sys.self", "user.child", "sys.child")]) }
model <- score ~ 1 + (1 | system) + (1 | topic)
began <- cpu()
fit <- brm(model, data = data, family = family, chains = 0, refresh = 0, silent = 2)
compiling <- cpu() - began
chains <- as.integer(arguments[5]); warmup <- as.integer(arguments[6])
began <- cpu()
fit <- update(fit, recompile = FALSE, chains = chains, warmup = warmup,
              iter = warmup + as.integer(arguments[7]), cores = 1, seed = 1, refresh = 0, silent = 2)
sampling <- cpu() - began
write.csv(as.data.frame(as_draws_df(fit)), arguments[3], row.names = FALSE)
write.csv(data.frame(compiling = compiling, sampling = sampling), arguments[4], row.names = FALSE)
