"""Any statistic over topics -> interval or p-value; knows no measure and no named risk."""
